/*
 * The folder of a run of tests: what lies in it goes with the run, and what a run left that was killed goes with the next.
 * Folders of other runs are stood in for; that this very run has one is looked at last.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRunFolder } from '../../infra/run-folder.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'run-folder-test-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

/** A folder as another run would have it. */
function another(name: string, owner: string | undefined): string {
  const folder = join(parent, `finalizer-bridge-run-${name}`);
  mkdirSync(join(folder, 'e2e/finalizer-bridge-kube-1'), { recursive: true });
  if (owner !== undefined) writeFileSync(join(folder, 'owner.json'), owner);
  return folder;
}

/** The id of a process that has ended. */
const ended = () => spawnSync(process.execPath, ['--version']).pid;

describe('the folder of a run', () => {
  it('has a part for the temporary files of each process, where others may pass but not look, and goes whole', () => {
    const place = makeRunFolder(parent);
    const { TMPDIR = '' } = place.environment('e2e');
    expect(TMPDIR).toBe(join(place.folder, 'e2e'));
    expect([place.folder, TMPDIR].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o711, 0o711]);
    writeFileSync(join(TMPDIR, 'left'), '');
    place.remove();
    expect(existsSync(place.folder)).toBe(false);
  });

  it('names itself to the processes of the run, and one place for what they compile', () => {
    const place = makeRunFolder(parent);
    const [first, second] = [place.environment('unit'), place.environment('slow')];
    expect(first).toMatchObject({
      FINALIZER_BRIDGE_RUN: place.folder,
      NODE_COMPILE_CACHE: join(place.folder, 'compiled'),
    });
    expect({ ...second, TMPDIR: first.TMPDIR }).toEqual(first);
  });

  it('has programs in Go collect garbage seldom, unless somebody has told them how often', () => {
    const told = process.env.GOGC;
    const place = makeRunFolder(parent);
    try {
      process.env.GOGC = '50';
      expect(place.environment('e2e')).toMatchObject({ GOGC: '50' });
      delete process.env.GOGC;
      expect(place.environment('e2e')).toMatchObject({ GOGC: '300' });
    } finally {
      if (told !== undefined) process.env.GOGC = told;
    }
  });

  it('takes the place of what a run left whose process is gone', () => {
    const left = another('killed', JSON.stringify({ pid: ended(), host: hostname() }));
    makeRunFolder(parent);
    expect(existsSync(left)).toBe(false);
  });

  it('takes the place of what a removal left, which says nothing of its run any more', () => {
    const left = another('half', undefined);
    const long = Date.now() / 1000 - 3_600;
    utimesSync(left, long, long);
    makeRunFolder(parent);
    expect(existsSync(left)).toBe(false);
  });

  it.each([
    ['of a run that goes on', () => JSON.stringify({ pid: process.pid, host: hostname() })],
    ['of a run on another machine', () => JSON.stringify({ pid: ended(), host: `not-${hostname()}` })],
    ['that is being made', () => undefined],
    ['that says something else', () => '{}'],
  ])('leaves a folder alone %s', (_, owner) => {
    const other = another('other', owner());
    makeRunFolder(parent);
    expect(existsSync(join(other, 'e2e/finalizer-bridge-kube-1'))).toBe(true);
  });

  it('is what the temporary files of this very test lie in', () => {
    const run = process.env.FINALIZER_BRIDGE_RUN ?? '';
    expect(tmpdir().startsWith(`${run}/`)).toBe(true);
    expect(JSON.parse(readFileSync(join(run, 'owner.json'), 'utf8'))).toMatchObject({ host: hostname() });
  });
});
