/*
 * The commands that the documents show: each block of them with the comment before it, which says by which test it is run,
 * or what is missing to run it. A test takes the blocks that name it from here, so what it runs is what stands there.
 * Used by test/docs-commands.test.ts and by the tests that follow the documents.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root, trackedFiles } from './tracked-files.ts';

/** Who runs a block, or why nobody does. */
export type Mark =
  | { readonly by: 'test'; readonly test: string }
  | { readonly by: 'nobody'; readonly needs: string; readonly why: string };

/** A fenced block of a document. */
export interface Block {
  readonly document: string;
  /** Of its fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly mark: Mark | undefined;
  readonly text: string;
}

const MARK = /^\s*<!-- (?:run by: (?<test>\S+)|needs (?<needs>[^:>]+?)(?:: (?<why>.+?))?) -->\s*$/;
const FENCE = /^(\s*)```(\S*)/;
const SHELL = new Set(['sh', 'console']);

/** What people read: no changelog, and nothing that a test gave. */
export function documents(): readonly string[] {
  return trackedFiles().filter((path) => path.endsWith('.md') && !path.startsWith('test/') && path !== 'CHANGELOG.md');
}

/** All fenced blocks of a document. */
export function blocksOf(document: string, text = readFileSync(join(root, document), 'utf8')): readonly Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [fence, indent = '', language = ''] = FENCE.exec(lines[at] ?? '') ?? [];
    if (fence === undefined) continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === '```');
    const inside = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    blocks.push({ document, line: at + 1, language, mark: markOf(lines[at - 1] ?? ''), text: inside.join('\n') });
    at = end < 0 ? lines.length : end;
  }
  return blocks;
}

/** The blocks with commands, of every document. */
export function shellBlocks(): readonly Block[] {
  return documents()
    .flatMap((document) => blocksOf(document))
    .filter(({ language }) => SHELL.has(language));
}

function markOf(line: string): Mark | undefined {
  const { test, needs, why = '' } = MARK.exec(line)?.groups ?? {};
  if (test !== undefined) return { by: 'test', test };
  return needs === undefined ? undefined : { by: 'nobody', needs, why };
}

/** The commands of a block: continued lines joined, without what is said of them and without what they print. */
export function commandsOf({ language, text }: Pick<Block, 'language' | 'text'>): readonly string[] {
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  const typed =
    language === 'console' ? lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2)) : lines;
  return typed
    .map((line) => line.replace(/(^|\s+)#( .*)?$/, ''))
    .flatMap((line) => line.split(' && '))
    .filter((line) => line.trim() !== '');
}

/** The blocks that a test is named at, to be taken one by one. */
export interface Pages {
  /** The next block of a document, or the next that holds a text. @throws when there is none left */
  next(document: string, holds?: string): Block;
  /** Where those are that have not been taken. */
  left(): readonly string[];
}

/**
 * What a test has to run. @param file its `import.meta.filename`
 * @throws when no block names it
 */
export function pagesFor(file: string): Pages {
  const test = relative(root, file).replaceAll('\\', '/');
  const waiting = shellBlocks().filter(({ mark }) => mark?.by === 'test' && mark.test === test);
  if (waiting.length === 0) throw new Error(`looking for commands to run: no block of the documents names ${test}`);
  return {
    next: (document, holds = '') => {
      const at = waiting.findIndex((block) => block.document === document && block.text.includes(holds));
      const [block] = at < 0 ? [] : waiting.splice(at, 1);
      if (block === undefined)
        throw new Error(`looking for the next commands of ${document} for ${test}: none is left`);
      return block;
    },
    left: () => waiting.map(({ document, line }) => `${document}:${line}`),
  };
}
