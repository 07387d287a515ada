/*
 * Notices that a listing goes round. Used where page after page is asked for, by ec2.ts and by handlers/s3-bucket: one that
 * comes to no end would go on until the time of the run is used up, and say nothing of why.
 */

/** Takes the marker of each next page in turn. @throws Error for one that was there before */
export type Marks = (marker: string) => void;

/**
 * Keeps one marker at a time, each for twice as many pages as the one before: so any round is noticed, whatever its length, and
 * memory is flat in the number of pages (https://maths-people.anu.edu.au/~brent/pub/pub051.html).
 */
export function createMarks(doing: string): Marks {
  let kept: string | undefined;
  let [lasts, left] = [1, 1];
  return (marker) => {
    if (marker === kept) throw new Error(`${doing}: a page leads back to itself, or to one before it`);
    left -= 1;
    if (left > 0) return;
    kept = marker;
    lasts *= 2;
    left = lasts;
  };
}
