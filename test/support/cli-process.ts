/*
 * The command line as people have it: the shipped bundle, started as a process of its own with nothing in its environment
 * but a kubeconfig, for people with exactly the rights that a test gives them. Used by end-to-end tests over a site.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cliBundle } from './made-once.ts';
import { inForce, type RightInForce } from './rights-in-force.ts';
import type { TestSite } from './site.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** How a process ended. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** One rule of a Role. */
export interface Right {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const attributesOf = ({ apiGroups, resources, verbs }: Right): readonly RightInForce[] =>
  apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb }))));

/** What a person may do: in the site's namespace, and in the whole cluster. */
export interface RightsOfPerson {
  readonly here?: readonly Right[];
  readonly everywhere?: readonly Right[];
}

/** Runs a command line; words as they would be typed. */
export type Person = (...words: readonly string[]) => Promise<Ended>;

/** Runs the rest of its words in a terminal of their own, and hands on what is typed. */
export const TERMINAL = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)';

/** What is asked, as far as it tells one question from the others, and what a person then types. */
export type Typed = readonly [question: string, answer: string];

/** The verbs. */
export type CliProcesses = Awaited<ReturnType<typeof cliProcesses>>;

/** Of the bundle; their home goes when the site ends. */
export async function cliProcesses(site: TestSite) {
  const folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-cli-'));
  site.keep({ stop: () => rm(folder, { recursive: true, force: true }) });
  const { bundles } = await cliBundle();
  const file = bundles[0]?.file ?? '';
  const { NODE_COMPILE_CACHE } = process.env;

  const personWith =
    (kubeconfig: string | undefined): Person =>
    (...words) =>
      new Promise((resolve) => {
        const config = kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig };
        const env = { PATH: dirname(process.execPath), HOME: folder, NODE_COMPILE_CACHE, ...config };
        const child = execFile(file, [...words], { cwd: folder, env }, (error, out, err) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
          resolve({ code, out: out.trimEnd(), err: err.trimEnd() });
        });
        // Nobody is there to be asked.
        child.stdin?.end();
      });

  /** At a terminal; what was said on either stream is in `out`. */
  const atTerminal = (kubeconfig: string, words: readonly string[], typed: readonly Typed[]): Promise<Ended> =>
    new Promise((resolve) => {
      const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder, KUBECONFIG: kubeconfig };
      const child = spawn('python3', ['-c', TERMINAL, file, ...words], { cwd: folder, env });
      const waiting = [...typed];
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text;
        const [question, answer] = waiting[0] ?? [];
        if (question === undefined || !out.includes(question)) return;
        waiting.shift();
        child.stdin.write(`${answer}\n`);
      });
      child.on('close', (code) => resolve({ code: code ?? -1, out: out.trimEnd(), err: '' }));
    });

  const adminConfig = () => {
    const { admin, name, namespace } = site;
    return admin.kubeconfigFor({ token: admin.adminToken, name: `${name}-admin`, namespace });
  };

  return {
    ...{ file, personWith, atTerminal, adminConfig },
    /** May do everything. */
    admin: async (): Promise<Person> => personWith(await adminConfig()),
    /** A ServiceAccount with these rights and no others; its kubeconfig's namespace is the site's. */
    person: async (name: string, { here = [], everywhere = [] }: RightsOfPerson = {}): Promise<Person> => {
      const { admin, namespace } = site;
      const { kubeconfig, token } = await admin.serviceAccount(namespace, name);
      const subjects = [{ kind: 'ServiceAccount', namespace, name }];
      const inAll = { name: `${namespace}-${name}` };
      const roleRef = (kind: string, role: string) => ({ apiGroup: RBAC, kind, name: role });
      const apiVersion = `${RBAC}/v1`;
      const metadata = { name, namespace };
      await admin.apply([
        { apiVersion, kind: 'Role', metadata, rules: here },
        { apiVersion, kind: 'RoleBinding', metadata, roleRef: roleRef('Role', name), subjects },
        { apiVersion, kind: 'ClusterRole', metadata: inAll, rules: everywhere },
        {
          apiVersion,
          kind: 'ClusterRoleBinding',
          metadata: inAll,
          roleRef: roleRef('ClusterRole', inAll.name),
          subjects,
        },
      ]);
      await inForce(admin, token, [
        ...here.flatMap(attributesOf).map((right) => ({ ...right, namespace })),
        ...everywhere.flatMap(attributesOf),
      ]);
      return personWith(kubeconfig);
    },
  };
}
