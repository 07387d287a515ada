/*
 * What the demo says: headlines, explanations, and lines with the time since the start and the object they are about.
 * Made by demo.ts for stdout, or for stderr under --json; coloured only where the stream is a terminal that wants it.
 */
import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** How a line is meant: something goes on, has ended well, needs a person, or went wrong. */
export type Tone = 'plain' | 'good' | 'held' | 'bad';

/** Takes what there is to say, in the order in which it happens. */
export interface Timeline {
  /** A headline and what is to be understood under it. */
  act(headline: string, ...explanation: readonly string[]): void;
  /** A fact about an object or a part of the system, as of now; a list is told on lines below each other. */
  line(who: string, text: string | readonly string[], tone?: Tone): void;
  /** A few lines of what a command would print. */
  output(...lines: readonly string[]): void;
  /** A command that a person would type for what is done now. */
  command(text: string): void;
  /** A few lines without time. */
  text(...lines: readonly string[]): void;
}

/** What a time line is made of. `elapsed`: ms since the start. */
export interface TimelineInput {
  readonly stream: Writable;
  readonly elapsed: () => number;
}

const STYLES: Readonly<Record<Tone, Style>> = { plain: 'reset', good: 'green', held: 'yellow', bad: ['bold', 'red'] };
const WHO_WIDTH = 22;
/** Time and who, with their gaps. */
const INDENT = 8 + 2 + WHO_WIDTH + 1;
const INDENT_OF_OUTPUT = 12;

/** Makes a time line. */
export function createTimeline({ stream, elapsed }: TimelineInput): Timeline {
  const paint = (style: Style, text: string) => (style === 'reset' ? text : styleText(style, text, { stream }));
  const put = (text: string) => void stream.write(`${text}\n`);
  const time = () => paint('dim', `${(elapsed() / 1000).toFixed(2).padStart(6)} s`);
  return {
    act: (headline, ...explanation) => {
      put(`\n${paint('bold', headline)}`);
      for (const line of explanation) put(paint('dim', line));
    },
    line: (who, text, tone = 'plain') => {
      const [first = '', ...rest] = [text].flat();
      put(`${time()}  ${paint('cyan', who.padEnd(WHO_WIDTH))} ${paint(STYLES[tone], first)}`);
      for (const line of rest) put(`${' '.repeat(INDENT)}${paint(STYLES[tone], line)}`);
    },
    output: (...lines) => {
      for (const line of lines) put(`${' '.repeat(INDENT_OF_OUTPUT)}${line}`);
    },
    command: (text) => put(`${time()}  ${paint('magenta', `$ ${text}`)}`),
    text: (...lines) => {
      for (const line of lines) put(line);
    },
  };
}
