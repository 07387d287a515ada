/*
 * The end of a drain where a bridge has served some namespaces only: the finalizer that kept its rights there comes off, so that
 * neither the RoleBinding nor the namespace hangs when nobody is left to see to it (P9); and not before all is clean.
 */
import { describe, expect, it } from 'vitest';
import { NAMESPACES } from '../../../bridge/namespaces.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { bindingIn, RIGHTS_BINDING, RIGHTS_FINALIZER } from '../../../bridge/rights-binding.ts';
import { ENTRY } from '../../support/bridge-builders.ts';
import { CommandLine } from '../../support/command-line.ts';

const OTHER = 'example.com/other';

/** A cluster without rules, in whose namespaces rights are kept. */
function keptRights(...namespaces: readonly string[]): CommandLine {
  const line = new CommandLine();
  for (const namespace of namespaces) {
    line.cluster.create({ name: namespace, kind: NAMESPACES, namespace: undefined });
    const finalizers = [OTHER, RIGHTS_FINALIZER];
    line.cluster.create({ name: RIGHTS_BINDING.name, namespace, uid: namespace, kind: RIGHTS_BINDING, finalizers });
  }
  return line;
}

const finalizers = ({ cluster }: CommandLine, ...namespaces: readonly string[]) =>
  namespaces.map((namespace) => cluster.peek(RIGHTS_BINDING.name, bindingIn(namespace))?.metadata.finalizers);

/** As an account that may read and write nothing but in one namespace. */
function onlyIn({ cluster }: CommandLine, allowed: string, verbs: readonly string[] = ['get', 'patch']): void {
  cluster.before = ({ verb, name, kind }) => {
    if (kind?.resource !== RIGHTS_BINDING.resource) return;
    if (kind.namespace !== allowed || !verbs.includes(verb)) throw new ApiError(`${verb} ${name}`, 403);
  };
}

describe('a drain that has left nothing', () => {
  it('gives up the rights in all namespaces, where bindings may be listed, and takes nothing of others along', async () => {
    const line = keptRights('team-a', 'team-b');
    expect((await line.run('drain --yes')).exit).toBe(0);
    expect(finalizers(line, 'team-a', 'team-b')).toEqual([[OTHER], [OTHER]]);
  });

  it('gives them up in those that it is told, where it may not list', async () => {
    const line = keptRights('team-a', 'team-b');
    onlyIn(line, 'team-a');
    const { exit, out } = await line.run('drain --yes --within team-a --within team-b --within team-gone');
    expect(exit).toBe(0);
    expect(finalizers(line, 'team-a', 'team-b')).toEqual([[OTHER], [OTHER, RIGHTS_FINALIZER]]);
    expect(out).toContain('not looked at: rolebindings in team-b (may not be read)');
    expect(out).not.toContain('team-gone');
  });

  it('is not clean while one of them keeps its finalizer, and says which', async () => {
    const line = keptRights('team-a');
    onlyIn(line, 'team-a', ['get']);
    const { exit, out } = await line.run('drain --yes --within team-a');
    expect(exit).toBe(1);
    expect(out).toContain(`the RoleBinding finalizer-bridge in team-a keeps its finalizer ${RIGHTS_FINALIZER}`);
    expect(out).toContain('next: mend what is said above, then');
  });

  it('tries again when the binding has moved', async () => {
    const line = keptRights('team-a');
    let moves = 2;
    line.cluster.before = ({ verb, kind }) => {
      if (verb !== 'patch' || kind?.resource !== RIGHTS_BINDING.resource || moves === 0) return;
      moves -= 1;
      line.cluster.annotate(RIGHTS_BINDING.name, 'example.com/a', String(moves), bindingIn('team-a'));
    };
    expect((await line.run('drain --yes')).exit).toBe(0);
    expect(finalizers(line, 'team-a')).toEqual([[OTHER]]);
  });
});

describe('a drain that leaves something, or was asked for one rule', () => {
  it('gives up nothing', async () => {
    const line = keptRights('team-a');
    line.cluster.create({ name: 'held', finalizers: [ENTRY] });
    line.cluster.delete('held');
    const running = line.run('drain --yes --bridge-gone --timeout 1s');
    await line.clock.advance(60_000);
    expect((await running).exit).toBe(1);
    expect((await line.run('drain --yes --rule another')).exit).toBe(1);
    expect(finalizers(line, 'team-a')).toEqual([[OTHER, RIGHTS_FINALIZER]]);
  });
});
