/*
 * A shell in which the commands of the documents run: a folder, and before the system's programs on the PATH those that a
 * reader has installed, each given by the test. A command that fails ends its block.
 * Used by the tests that follow the documents.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Ended, TERMINAL, type Typed } from './cli-process.ts';
import type { Block } from './document-blocks.ts';

export interface Shell {
  readonly folder: string;
  /** Folder of the programs. */
  readonly bin: string;
  /** Puts a program on the PATH: the words that start it. */
  install(name: string, words: readonly string[]): void;
  /** Runs a block, or a text; nobody is there to be asked. */
  run(block: Block | string): Promise<Ended>;
  /** The same at a terminal: of each question as far as it tells it from others, and what is typed then. */
  runTyping(block: Block | string, typed: readonly Typed[]): Promise<Ended>;
  /** Runs a block that has to succeed; resolves to what it said on standard output. @throws with all that it said */
  follow(block: Block | string): Promise<string>;
}

/** A shell in a folder; its programs lie in a folder beside. */
export function shellIn(folder: string, env: Readonly<Record<string, string>>): Shell {
  const bin = join(dirname(folder), 'bin');
  mkdirSync(bin, { recursive: true });
  mkdirSync(folder, { recursive: true });
  const path = `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`;
  const start = (words: readonly string[], stdin: 'ignore' | 'pipe') => {
    const [command = '', ...args] = words;
    const { NODE_COMPILE_CACHE, GOGC } = process.env;
    const given = { PATH: path, HOME: dirname(folder), NO_COLOR: '1', NODE_COMPILE_CACHE, GOGC, ...env };
    return spawn(command, args, { cwd: folder, env: given, stdio: [stdin, 'pipe', 'pipe'] });
  };
  const run: Shell['run'] = async (block) => await ended(start(['/bin/sh', '-ec', textOf(block)], 'ignore'));
  return {
    ...{ folder, bin, run },
    install: (name, words) =>
      writeFileSync(join(bin, name), `#!/bin/sh\nexec ${words.map(quoted).join(' ')} "$@"\n`, { mode: 0o755 }),
    runTyping: async (block, typed) => {
      const child = start(['python3', '-c', TERMINAL, '/bin/sh', '-ec', textOf(block)], 'pipe');
      const waiting = [...typed];
      let said = '';
      child.stdout?.on('data', (piece) => {
        said += `${piece}`;
        const [question, answer] = waiting[0] ?? [];
        if (question === undefined || !said.includes(question)) return;
        waiting.shift();
        said = '';
        child.stdin?.write(`${answer}\n`);
      });
      return await ended(child);
    },
    follow: async (block) => {
      const { code, out, err } = await run(block);
      if (code !== 0) throw new Error(`running ${textOf(block)}\nended with ${code}:\n${out}\n${err}`);
      return out;
    },
  };
}

async function ended(child: ReturnType<typeof spawn>): Promise<Ended> {
  const said = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  const [code] = await once(child, 'close');
  return { code: typeof code === 'number' ? code : -1, out: said.out.trimEnd(), err: said.err.trimEnd() };
}

function textOf(block: Block | string): string {
  return typeof block === 'string' ? block : block.text;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
