/*
 * The command line where no bridge runs, on a real API server: everything is told from the objects and rules themselves,
 * words wait for the bridge to come back, and every caller has only what RBAC gives. Real processes of the bundle.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type CliProcesses, cliProcesses, type Person } from '../support/cli-process.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type SiteRules, siteRulesOf } from '../support/site-rules.ts';
import { entryOf, type Thing, type Things, thingsOf } from '../support/site-things.ts';

const RULE = 'down-rule';

let site: TestSite;
let rules: SiteRules;
let things: Things;
let cli: CliProcesses;
let admin: Person;
let adminConfig: string;
let logs: Thing;
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({ name: 'cli-down', handlers: ['by-hand'] });
  [rules, things] = [siteRulesOf(site), thingsOf(site)];
  cli = await cliProcesses(site);
  await rules.install();
  admin = await cli.admin();
  adminConfig = await cli.adminConfig();
  await rules.apply(RULE, rules.spec(RULE));
  logs = await deleting('logs', [entryOf(RULE), 'example.com/theirs']);
});
afterAll(async () => {
  await rules?.removeAll();
  await site?.stop();
});

/** An object that is being deleted and that nobody sees to. */
async function deleting(name: string, finalizers: readonly string[], labels = {}): Promise<Thing> {
  const thing = await things.bucket(name, { finalizers, labels });
  await things.delete(thing);
  return thing;
}

/** A kubeconfig whose API server is not there: nobody listens on port 1. */
async function lostCluster(): Promise<string> {
  const file = `${adminConfig}.lost`;
  const text = await readFile(adminConfig, 'utf8');
  await writeFile(file, text.replaceAll(/(https:\/\/127\.0\.0\.1):\d+/g, '$1:1'));
  return file;
}

const nameOf = ({ name }: Thing) => `buckets.${site.group}/${name}`;
const buckets = (...verbs: readonly string[]) => ({ apiGroups: [site.group], resources: ['buckets'], verbs });

describe('without a bridge', () => {
  it('explain says what is known, and who else holds the object', async ({ expect }) => {
    const { code, out } = await admin('explain', nameOf(logs));
    expect(code).toBe(0);
    expect(out).toContain(`Rule ${RULE} (handler by-hand): Silent`);
    expect(out).toContain('target      bucket=logs');
    expect(out).toMatch(/example\.com\/theirs\n +probably of unknown; of the domain example\.com/);
    expect(out).toMatch(/requests +(none is known to have been sent; )?any that was sent by now ends by \d{4}-/);
  });

  it.each([
    ['the Kind, in two words', ['Bucket.GROUP', 'logs']],
    ['the singular', ['bucket.GROUP/logs']],
    ['version and group', ['buckets.v1.GROUP/logs']],
  ])('explain knows the kind by %s', async (_, words) => {
    const { code, out } = await admin(
      'explain',
      ...words.map((word) => word.replace('GROUP', site.group)),
      '-o',
      'yaml',
    );
    if (code !== 0 || !out.includes(`uid: ${logs.uid}`)) throw new Error(`explaining ${words.join(' ')}: ${out}`);
  });

  it('status counts the objects, and says that a rule was never judged', async ({ expect }) => {
    const { code, out } = await admin('status', RULE, '-o', 'json');
    expect(code).toBe(1);
    const [rule] = JSON.parse(out).rules;
    expect(rule).toMatchObject({ name: RULE, pending: 1, held: 0, counted: { from: 'objects' } });
    expect(rule.ready).toMatchObject({ status: 'Unknown', reason: 'NotJudged' });
  });

  it('status finds an entry whose rule is not there, in any kind', async ({ expect }) => {
    const path = `/api/v1/namespaces/${site.namespace}/configmaps`;
    const metadata = { name: 'lost', finalizers: [entryOf('down-no-such-rule')] };
    const lost = await things.create(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const orphans = async (...options: readonly string[]) =>
      JSON.parse((await admin('status', '-o', 'json', '-n', site.namespace, ...options)).out).noRule;
    expect(await orphans('--all-kinds')).toContainEqual({
      ...{ rule: 'down-no-such-rule', kind: 'configmaps', namespace: site.namespace, name: 'lost', uid: lost.uid },
      deleting: false,
    });
    await things.edit(lost, [{ op: 'remove', path: '/metadata/finalizers' }]);
  });

  it('adopt prints the tags of a target whose handler has no command', async ({ expect }) => {
    const { code, out, err } = await admin('adopt', nameOf(logs));
    expect([code, err]).toEqual([1, expect.stringContaining('no command is known for handler by-hand')]);
    expect(out).toContain(`# tag: "finalizer-bridge.dev/owner-uid" = "${logs.uid}"`);
  });

  it('a release is written, and obeyed by the bridge that comes', async ({ expect }) => {
    const thing = await deleting('released', [entryOf(RULE)]);
    const said = await admin('release', nameOf(thing), '--yes', '--now', '--reason', 'no bridge here');
    expect(said.code).toBe(0);
    expect((await things.found(thing)).metadata.annotations).toMatchObject({
      [`release.finalizer-bridge.dev/${RULE}`]: `${thing.uid}/now`,
      [`reason.finalizer-bridge.dev/${RULE}`]: `${thing.uid}/no bridge here`,
    });
    const bridge = await site.startBridgeOverApi();
    await things.gone(thing);
    await bridge.stop();
  });
});

describe('at a terminal', () => {
  const wordOn = async (thing: Thing) =>
    (await things.found(thing)).metadata.annotations[`release.finalizer-bridge.dev/${RULE}`];

  it('a release asks for its reason and for the end of the uid, and takes no other', async ({ expect }) => {
    const thing = await deleting('asked', [entryOf(RULE)]);
    const release = (end: string) =>
      cli.atTerminal(
        adminConfig,
        ['release', nameOf(thing)],
        [
          ['Reason:', 'by hand'],
          ['last 6 characters', end],
        ],
      );

    const wrong = await release('000000');
    expect([wrong.code, wrong.out]).toEqual([1, expect.stringContaining('that is not the end of its uid')]);
    expect(await wordOn(thing)).toBeUndefined();

    const { code, out } = await release(thing.uid.slice(-6));
    expect([code, out]).toEqual([0, expect.stringContaining('nobody takes down bucket=asked')]);
    expect(await wordOn(thing)).toBe(thing.uid);
  });

  it('an end of the input is no answer', async ({ expect }) => {
    const thing = await deleting('unanswered', [entryOf(RULE)]);
    const end = '\u0004';
    const { code, out } = await cli.atTerminal(adminConfig, ['release', nameOf(thing)], [['Reason:', end]]);
    expect([code, out]).toEqual([2, expect.stringContaining('a release needs a reason')]);
    expect(await wordOn(thing)).toBeUndefined();
  });
});

describe('with few rights', () => {
  it('nobody is told verb and resource, and nothing is done', async ({ expect }) => {
    const nobody = await cli.person('nobody');
    const denied = /error: .*not allowed: buckets\S* "logs" is forbidden: User "\S+" cannot get resource "buckets"/;
    expect(await nobody('explain', nameOf(logs))).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(denied),
    });
    const rulesDenied = /cannot list resource "teardownrules" in API group "finalizer-bridge.dev"/;
    expect(await nobody('status')).toMatchObject({ code: 1, out: '', err: expect.stringMatching(rulesDenied) });
  });

  it('who may read the object alone gets it explained, and no word written', async ({ expect }) => {
    const reader = await cli.person('reader', { here: [buckets('get')] });
    const { code, out } = await reader('explain', nameOf(logs));
    expect([code, out]).toEqual([0, expect.stringContaining('cannot be read: teardownrules')]);
    const before = await things.found(logs);
    for (const words of [['retry'], ['approve'], ['release', '--yes', '--reason', 'x']]) {
      const [verb = '', ...options] = words;
      const said = await reader(verb, nameOf(logs), ...options);
      expect(said).toMatchObject({ code: 1, err: expect.stringContaining('cannot patch resource "buckets"') });
    }
    expect(await things.found(logs)).toEqual(before);
  });

  it('who may read rules but no objects gets the counts of the bridge, and when they are from', async ({ expect }) => {
    const auditor = await cli.person('auditor', {
      everywhere: [{ apiGroups: ['finalizer-bridge.dev'], resources: ['teardownrules'], verbs: ['get', 'list'] }],
    });
    const { out, err } = await auditor('status', RULE);
    expect(out).toContain(RULE);
    expect(err).toContain(`you may not list buckets.${site.group}`);
    const [rule] = JSON.parse((await auditor('status', RULE, '-o', 'json')).out).rules;
    expect(rule.counted).toMatchObject({ from: 'status' });
  });
});

describe('the flags', () => {
  it('--as goes to the API server as that user', async ({ expect }) => {
    const { err } = await admin('explain', nameOf(logs), '--as', 'jo', '--as-group', 'guests');
    expect(err).toContain('User "jo" cannot get resource "buckets"');
  });

  it.each([
    [['--context', 'wrong'], 2, 'it has no context wrong'],
    [['--kubeconfig', '/nowhere/config'], 2, 'loading kubeconfig /nowhere/config'],
    [['-n', 'kube-system'], 1, 'not found in namespace kube-system'],
    [['--request-timeout', '1ms'], 1, 'no answer'],
  ])('%j ends with %d', async (flags, code, words) => {
    const said = await admin('explain', nameOf(logs), ...flags);
    if (said.code !== code || !said.err.includes(words)) throw new Error(`it ended with ${said.code}: ${said.err}`);
  });

  it('say in one line that there is no kubeconfig', async ({ expect }) => {
    const { code, err } = await cli.personWith(undefined)('status');
    expect(code).toBe(2);
    expect(err.split('\n')).toHaveLength(1);
    expect(err).toContain('there is none: KUBECONFIG is not set');
  });

  it('say in one line that there is no cluster', async ({ expect }) => {
    const { code, err } = await cli.personWith(await lostCluster())('status', '--request-timeout', '5s');
    expect(code).toBe(1);
    expect(err.split('\n')).toHaveLength(1);
    expect(err).toContain('is the API server of this context there?');
  });
});

it('an object that is gone, live or free has nothing to be said about', async ({ expect }) => {
  const live = await things.bucket('live', { finalizers: [entryOf(RULE)] });
  expect((await admin('retry', nameOf(live))).err).toContain('is not being deleted');
  const free = await things.bucket('free');
  expect((await admin('retry', nameOf(free))).err).toContain('carries no entry of Finalizer Bridge');
  expect((await admin('retry', `buckets.${site.group}/none`)).err).toContain('not found in namespace cli-down');
  await things.edit(live, [{ op: 'remove', path: '/metadata/finalizers' }]);
});
