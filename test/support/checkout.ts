/*
 * A checkout of the project in a folder of its own, where commands of the documents may write what they like, and an `npm` for
 * it: what a script of package.json runs, without the bootstrap (it has tests of its own) and without a network.
 * Used by the tests that follow the documents.
 */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { root, trackedFiles } from './tracked-files.ts';

const manifest = z.object({ bin: z.record(z.string(), z.string()), scripts: z.record(z.string(), z.string()) });
const BOOTSTRAP = 'node infra/boot.mjs ';

/** Copies all that belongs to the project. */
export function copyCheckout(folder: string): void {
  for (const path of trackedFiles().filter((one) => !one.startsWith('test/'))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}

/** The scripts of package.json that the bootstrap starts, by name: entry and arguments. */
export function scripts(): ReadonlyMap<string, string> {
  const read = manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const started = Object.entries(read.scripts).filter(([, script]) => script.startsWith(BOOTSTRAP));
  return new Map(started.map(([name, script]) => [name, script.slice(BOOTSTRAP.length)]));
}

/**
 * Writes that `npm` into a file of `bin`: `npm run <script>`, and `npm install --global .`, which links what `bin` names, or
 * `npm uninstall --global`, which takes these links away.
 */
export function writeNpm(bin: string): void {
  const read = manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const runs = [...scripts()].map(
    ([name, script]) => `  "run ${name}") shift 2; [ "\${1-}" != -- ] || shift; exec node ${script} "$@" ;;`,
  );
  const links = Object.entries(read.bin).map(([name, path]) => `ln -sf "$PWD/${path}" '${join(bin, name)}'`);
  const linked = Object.keys(read.bin).map((name) => join(bin, name));
  const text = [
    ...['#!/bin/sh', `case "\${1-} \${2-}" in`, ...runs],
    `  "install --global") ${links.join('; ')}; exit ;;`,
    `  "uninstall --global") rm ${linked.map((path) => `'${path}'`).join(' ')}; exit ;;`,
    ...['esac', 'echo "npm: nothing is known of: $*" >&2', 'exit 1', ''],
  ];
  writeFileSync(join(bin, 'npm'), text.join('\n'), { mode: 0o755 });
}

/**
 * Has the stack deployed by direct updates: by change sets, as AWS has it by default, the emulator forgets the outputs.
 * @param folder with serverless.yml and infra/
 */
export function deployDirectly(folder: string): void {
  const service = readFileSync(join(root, 'serverless.yml'), 'utf8');
  const direct = service.replace(/^provider: .*$/m, `provider: \${file(./direct.cjs)}`);
  writeFileSync(join(folder, 'serverless.yml'), direct);
  const compose = "const { provider } = await require('./infra/functions.cjs')(asked);";
  const provider = `async (asked) => { ${compose} return { ...provider, deploymentMethod: 'direct' }; }`;
  writeFileSync(join(folder, 'direct.cjs'), `module.exports = ${provider};\n`);
}
