/*
 * The command line over fakes: runs one line as a person would type it and keeps what it said. Used by the tests of
 * bridge/cli. The world is a tiny API server; what it serves and what a person answers is plain data.
 */
import type { Catalogue, ServedKind } from '../../bridge/cli/catalogue.ts';
import type { Command, Exit } from '../../bridge/cli/command.ts';
import { commands as allCommands } from '../../bridge/cli/commands.ts';
import type { DrainApi } from '../../bridge/cli/drain/api.ts';
import { type Flags, runProgram } from '../../bridge/cli/program.ts';
import type { Clock } from '../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { BUCKETS } from './bridge-builders.ts';
import { fakeDrainApi } from './drain-scene.ts';
import { FakeCluster } from './fake-cluster.ts';
import { CONFIG_MAPS, FakeKinds, VOLUMES } from './fake-kinds.ts';
import { ManualClock } from './manual-clock.ts';

/** What the fake API server says it serves. */
export const SERVED: readonly ServedKind[] = [
  { ...CONFIG_MAPS, kind: 'ConfigMap', singular: 'configmap', shortNames: ['cm'], namespaced: true, holdable: true },
  { ...BUCKETS, kind: 'Bucket', singular: 'bucket', shortNames: ['bkt'], namespaced: true, holdable: true },
  { ...VOLUMES, kind: 'Volume', singular: 'volume', shortNames: [], namespaced: false, holdable: true },
  {
    group: '',
    version: 'v1',
    resource: 'namespaces',
    kind: 'Namespace',
    singular: 'namespace',
    shortNames: ['ns'],
    namespaced: false,
    holdable: true,
  },
  {
    ...TEARDOWN_RULES,
    kind: 'TeardownRule',
    singular: 'teardownrule',
    shortNames: ['tdr'],
    namespaced: false,
    holdable: true,
  },
];

/** A person at the command line, and the cluster it talks to. */
export class CommandLine {
  readonly clock: ManualClock;
  readonly cluster: FakeCluster;
  readonly kinds = new FakeKinds();
  served = SERVED;
  readonly drainApi: DrainApi;
  commands: readonly Command[] = allCommands;
  /** What a person types when asked; undefined: nobody is there. */
  answers: string[] | undefined;
  /** What was asked. */
  readonly questions: string[] = [];
  /** The flags of the last command that connected. */
  flags: Flags | undefined;

  /** In a world of its own, or in one that a bridge lives in too. */
  constructor(world?: { readonly clock: ManualClock; readonly cluster: FakeCluster }) {
    this.clock = world?.clock ?? new ManualClock();
    this.cluster = world?.cluster ?? new FakeCluster(() => this.clock.now());
    this.drainApi = fakeDrainApi(this.cluster, this.clock, () => this.served);
  }

  /** Runs a line, its words separated by blanks. */
  async run(line: string, ...more: readonly string[]): Promise<Said> {
    const out: string[] = [];
    const err: string[] = [];
    const { answers, questions, clock, commands } = this;
    const exit = await runProgram([...line.split(' ').filter(Boolean), ...more], {
      ...{ name: 'finalizer-bridge', version: '1.2.3', commands, clock },
      terminal: {
        out: (text) => void out.push(text),
        err: (text) => void err.push(text),
        isTty: answers !== undefined,
        ask: async (question) => {
          questions.push(question);
          return answers?.shift() ?? '';
        },
      },
      connect: (flags, given) => this.#connect(flags, given),
    });
    return { exit, out: out.join('\n'), err: err.join('\n') };
  }

  #connect(flags: Flags, _clock: Clock) {
    this.flags = flags;
    const catalogue: Catalogue = { kinds: async () => this.served };
    const { namespace = 'team-a' } = flags;
    const { cluster, kinds, drainApi } = this;
    return { cluster, kinds, catalogue, drainApi, namespace, isNamespaceGiven: flags.namespace !== undefined };
  }
}

/** What a line said, and its exit code. */
export interface Said {
  readonly exit: Exit;
  readonly out: string;
  readonly err: string;
}
