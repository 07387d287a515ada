/*
 * Every command that a document shows is run by a test, which takes it from the page, or says what is missing to run it.
 * What the marks before blocks mean is in support/document-blocks.ts; that words and flags of commands exist, also of those
 * that stand in a sentence, is held by docs-words.slow.test.ts.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Block, blocksOf, commandsOf, documents, shellBlocks } from './support/document-blocks.ts';
import { root, trackedFiles } from './support/tracked-files.ts';

/** Languages of blocks: those that are commands, and those that are not. */
const LANGUAGES = ['sh', 'console', 'text', 'ts', 'json', 'yaml', 'hcl', 'mermaid'];
/** What may be missing, and the programs for which it is; all others have to be run. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  AWS: ['node infra/boot.mjs infra/verify-aws.ts'],
  'a release': ['helm', 'gh attestation', 'npm audit signatures'],
  'a Docker engine': ['docker', 'aws ecr get-login-password', 'git checkout', 'export SOURCE_DATE_EPOCH'],
  'no test': ['npm test', 'AGREEMENT_RUNS'],
};
/** Of a test that runs commands: it takes them, and looks that none is left. */
const TAKES = /pagesFor\(import\.meta\.filename\)[\s\S]*pages\.left\(\)/;

const at = ({ document, line }: Block) => `${document}:${line}`;

/** What is wrong with a block of commands. */
function faultsOf(block: Block): readonly string[] {
  const { mark } = block;
  if (mark === undefined) return [`${at(block)}: is run by no test, and does not say what is missing`];
  if (mark.by === 'nobody') {
    const programs = NEEDS[mark.needs] ?? [];
    const others = commandsOf(block).filter((command) => !programs.some((program) => command.startsWith(program)));
    return [
      ...(mark.why === '' ? [`${at(block)}: does not say why it needs ${mark.needs}`] : []),
      ...others.map((command) => `${at(block)}: ${command} does not need ${mark.needs}`),
    ];
  }
  if (!/^test\/.*\.test\.ts$/.test(mark.test) || !existsSync(join(root, mark.test)))
    return [`${at(block)}: there is no test ${mark.test}`];
  const text = readFileSync(join(root, mark.test), 'utf8');
  return TAKES.test(text) ? [] : [`${at(block)}: ${mark.test} takes no commands from the documents`];
}

describe('the commands of the documents', () => {
  it('are run by a test, or say what is missing', () => {
    const blocks = shellBlocks();
    expect(blocks.length).toBeGreaterThan(30);
    expect(blocks.filter(({ mark }) => mark?.by === 'test').length).toBeGreaterThan(25);
    expect(blocks.flatMap(faultsOf)).toEqual([]);
  });

  it.each([
    ['no mark', '```sh\nkubectl get pods\n```', 'page.md:1: is run by no test, and does not say what is missing'],
    [
      'a mark with something between',
      '<!-- run by: test/docs-commands.test.ts -->\n\n```sh\nls\n```',
      'page.md:3: is run by no test, and does not say what is missing',
    ],
    [
      'a test that is not there',
      '<!-- run by: test/none.test.ts -->\n```sh\nls\n```',
      'page.md:2: there is no test test/none.test.ts',
    ],
    [
      'a test that runs none',
      '<!-- run by: test/docs-links.test.ts -->\n```console\n$ ls\n```',
      'page.md:2: test/docs-links.test.ts takes no commands from the documents',
    ],
    ['a need that is none', '<!-- needs time: I have none -->\n```sh\nls\n```', 'page.md:2: ls does not need time'],
    ['no reason', '<!-- needs AWS -->\n```sh\n```', 'page.md:2: does not say why it needs AWS'],
    [
      'a command that could be run',
      '<!-- needs AWS: it costs -->\n```sh\nkubectl get \\\n  pods\n```',
      'page.md:2: kubectl get pods does not need AWS',
    ],
  ])('would be found out with %s', (_, text, fault) => {
    expect(blocksOf('page.md', text).flatMap(faultsOf)).toEqual([fault]);
  });
});

describe('what is told to be typed, in documents and by the programs', () => {
  /** Commands that run whatever has the name at the registry, which nobody of the project owns yet. */
  const FETCHES =
    /\bnpx (?!--no-install\b)[\w@./-].*|\bnpm (exec|x|create|init) .*|\bnpm (i|install|add)\b[^`'"#]* finalizer-bridge\b.*|npmjs\.com\/package.*/;
  const fetches = (text: string) => text.split('\n').flatMap((line) => FETCHES.exec(line)?.[0] ?? []);

  it('never fetches a package by the name of one that is not published', () => {
    const told = [
      ...documents(),
      ...trackedFiles().filter((path) => /^(bridge|functions|infra)\/.*\.(ts|yml)$/.test(path)),
    ];
    const faults = told.flatMap((path) =>
      fetches(readFileSync(join(root, path), 'utf8')).map((command) => `${path}: ${command}`),
    );
    expect(faults).toEqual([]);
  });

  it.each([
    ['npx finalizer-bridge init mine', true],
    ['npx --yes finalizer-bridge init mine', true],
    ["'npm install finalizer-bridge, then'", true],
    ['`npm install --save-dev finalizer-bridge`', true],
    ['npx --no-install finalizer-bridge dev', false],
    ['npm install ./vendor/finalizer-bridge-0.1.0.tgz', false],
    ['npm run build && npm install --global .', false],
  ])('would be found out: %s', (line, isFault) => {
    expect(fetches(line).length > 0).toBe(isFault);
  });
});

describe('a command that is copied into a terminal', () => {
  /** Without the texts that commands read, from `<<END` to `END`. */
  const typedIn = ({ text }: Pick<Block, 'text'>) => text.replaceAll(/<<'?(\w+)'?$[\s\S]*?^\1$/gm, '');
  const commented = (block: Pick<Block, 'text'>) =>
    typedIn(block)
      .split('\n')
      .filter((line) => /\S\s+#( |$)/.test(line));

  it('has no comment behind it: an interactive zsh takes that for arguments, and npm for packages', () => {
    const blocks = shellBlocks().filter(({ language }) => language === 'sh');
    expect(blocks.flatMap((block) => commented(block).map((line) => `${at(block)}: ${line}`))).toEqual([]);
  });

  it('would be found out, and not for a text that it reads', () => {
    expect(commented({ text: 'npm install .  # also as a plug-in' })).toHaveLength(1);
    expect(commented({ text: 'kubectl apply -f - <<END\na: 1  # one\nEND\n# alone' })).toEqual([]);
  });
});

describe('what looks like a command', () => {
  it('stands in a block that says its language', () => {
    const blocks = documents().flatMap((document) => blocksOf(document));
    expect(blocks.filter(({ language }) => !LANGUAGES.includes(language)).map(at)).toEqual([]);
    const typed = /^\s*(\$ )?(kubectl|helm|npm|npx|aws|finalizer-bridge|docker|git) [a-z-]/m;
    const hidden = blocks.filter(({ language, text }) => !['sh', 'console'].includes(language) && typed.test(text));
    // The picture at its beginning shows one.
    expect(hidden.map(({ document }) => document)).toEqual(['README.md']);
  });

  it('is not hidden in a text that is indented instead', () => {
    const indented = documents().flatMap((document) => {
      const text = readFileSync(join(root, document), 'utf8').replace(/^\s*```[\s\S]*?^\s*```$/gm, '');
      return [...text.matchAll(/\n\n {4}(?=\S).*/g)].map(([line]) => `${document}: ${line.trim()}`);
    });
    expect(indented).toEqual([]);
  });
});
