/*
 * The health check for Argo CD in docs/gitops.md, run by the interpreter that Argo CD has inside, over rules as the bridge
 * leaves them: what a team sees of a rule in its Application.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod/mini';
import { findGlua } from '../../infra/local/glua.ts';
import { root } from '../support/tracked-files.ts';

const KEY = 'resource.customizations.health.finalizer-bridge.dev_TeardownRule';
const customization = z.object({ data: z.object({ [KEY]: z.string() }) });

let folder: string;
let glua: string;
let check: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-lua-'));
  glua = await findGlua((line) => void process.stderr.write(`${line}\n`));
  const page = await readFile(join(root, 'docs/gitops.md'), 'utf8');
  const [, block = ''] = /```yaml\n(data:\n[\s\S]*?)```/.exec(page) ?? [];
  check = z.parse(customization, parse(block)).data[KEY];
}, 600_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A value as Lua writes it. */
function lua(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(lua).join(',')}}`;
  const { success, data } = z.record(z.string(), z.unknown()).safeParse(value);
  if (!success) return JSON.stringify(value);
  return `{${Object.entries(data).map(([key, inner]) => `[${JSON.stringify(key)}]=${lua(inner)}`)}}`;
}

async function healthOf(rule: object): Promise<string> {
  const file = join(folder, 'check.lua');
  const call = `local function health(obj)\n${check}\nend\nlocal said = health(${lua(rule)})\nprint(said.status .. "|" .. said.message)`;
  await writeFile(file, call);
  return execFileSync(glua, [file], { encoding: 'utf8' }).trim();
}

const condition = (type: string, status: string, reason: string, observedGeneration = 2) => ({
  ...{ type, status, reason, message: 'in words', observedGeneration },
});
const rule = (conditions: readonly object[], metadata: object = {}) => ({
  metadata: { name: 'team', generation: 2, ...metadata },
  status: { conditions },
});
const leaving = { deletionTimestamp: '2026-01-31T12:00:00Z' };

it.each([
  [
    'is progressing before the bridge has seen it',
    { metadata: { generation: 1 } },
    'Progressing|the bridge has not looked',
  ],
  ['is healthy when it is ready', rule([condition('Ready', 'True', 'Ready')]), 'Healthy|Ready: in words'],
  ['is degraded when it cannot work', rule([condition('Ready', 'False', 'NoQueue')]), 'Degraded|NoQueue: in words'],
  ['is not judged by an older generation', rule([condition('Ready', 'True', 'Ready', 1)]), 'Progressing|the bridge'],
  [
    'is progressing while it is withdrawn, with what it waits for',
    rule([condition('Ready', 'False', 'Withdrawn'), condition('WithdrawalBlocked', 'True', 'HeldObjects')], leaving),
    'Progressing|HeldObjects: in words',
  ],
])('P7 a rule %s', async (_, object, said) => {
  expect(await healthOf(object)).toContain(said);
});
