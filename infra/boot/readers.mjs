// @ts-check
/*
 * Whoever reads what a command writes may stop reading, as `head` does: that is no fault, and changes nothing about what the
 * command does and ends with. Called by ../boot.mjs, by lifeline.mjs for every entry, and by ../tool.ts.
 */

/**
 * From now on a reader that has gone ends nothing; what could not be written for another reason still does.
 * @param {readonly NodeJS.WritableStream[]} [streams]
 */
export function letReadersGo(streams = [process.stdout, process.stderr]) {
  for (const stream of streams) {
    stream.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}
