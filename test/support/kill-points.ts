/*
 * The stage of the kill-point tests: bridge and function over one site, as they are shipped. One of them is killed with
 * SIGKILL at one exact point of a deletion and started again; then the stage looks at what became of everything.
 */
import { expect } from 'vitest';
import { z } from 'zod/mini';
import { removal } from './bridge-calls.ts';
import { startSite, type TestSite, type Wires } from './site.ts';
import { type Buckets, bucketsOf, type MadeBucket } from './site-buckets.ts';
import { queuesOf } from './site-queues.ts';
import type { Point } from './tripwire.ts';

export type Victim = 'bridge' | 'function';

/** The object and the bucket of one point, before they are made. */
export interface Place {
  readonly site: TestSite;
  readonly name: string;
  readonly bucket: string;
  /** API path of the object. */
  readonly path: string;
}

/** Where to kill: in which conversation, at which request or answer. */
export interface KillPoint {
  readonly wire: keyof Wires;
  readonly at: (place: Place) => Point;
}

export interface Stage {
  readonly buckets: Buckets;
  place(name: string): Place;
  /** Resolves when the victim is dead. The conversation ends there: what it asked is not passed on, or not answered. */
  killAt(victim: Victim, point: KillPoint, place: Place): Promise<void>;
  kill(victim: Victim): Promise<void>;
  /** Starts it again, and makes the messages visible that it died with. */
  restart(victim: Victim, until?: 'ready' | 'started'): Promise<void>;
  /** The end of a deletion, whoever was killed: all of it gone, nothing else touched, no message left, no promise broken. */
  expectEnd(made: MadeBucket): Promise<void>;
  stop(): Promise<void>;
}

const received = z.object({ Messages: z._default(z.array(z.object({ ReceiptHandle: z.string() })), []) });
const asked = z.object({ QueueUrl: z.string() });
const FOREIGN_VERSIONS = 3;

/** Starts the site with both processes. */
export async function startStage(name: string): Promise<Stage> {
  // A message that was on its way to a process that dies comes again in seconds instead of minutes: time is shortened,
  // nothing else.
  const visibility = { resultVisibility: 5, requestVisibility: 5 };
  const site = await startSite({ name, tripwires: true, bundled: true, ...visibility });
  try {
    return await furnish(site);
  } catch (error) {
    await site.stop();
    throw error;
  }
}

async function furnish(site: TestSite): Promise<Stage> {
  const [buckets, queues] = [bucketsOf(site), queuesOf(site)];
  const foreign = `${site.name}-foreign`;
  await buckets.createBucket(foreign, { owner: 'somebody-else', versions: FOREIGN_VERSIONS });
  const running = { bridge: await site.startBridge(), function: await site.startFunction() };
  const keys = { bridge: site.bridge.accessKeyId, function: site.handler('s3-bucket').accessKeyId };
  const promises = watchPromises(site, buckets);
  const seen = { bridge: 0, function: 0 };

  const kill = async (victim: Victim) => {
    running[victim].signal('SIGKILL');
    expect(await running[victim].exited).toBe(137);
    // The lease of one that is dead for sure is not waited for.
    if (victim === 'bridge') await site.freeLease();
  };
  /** What it received stays invisible for minutes, as it said that it works on it. That time is not waited for. */
  const handBack = async (victim: Victim) => {
    const { passed } = site.wires().sqs;
    const answers = passed.slice(seen[victim]).filter(({ operation, status, signedBy }) => {
      return operation === 'ReceiveMessage' && status === 200 && signedBy === keys[victim];
    });
    seen[victim] = passed.length;
    for (const { body, answer } of answers) {
      const { QueueUrl } = z.parse(asked, JSON.parse(body));
      const { Messages } = z.parse(received, JSON.parse(answer));
      for (const { ReceiptHandle } of Messages) await queues.handBack(QueueUrl, ReceiptHandle);
    }
  };
  return {
    ...{ buckets, kill, stop: () => site.stop() },
    place: (name) => ({ site, name, bucket: `${site.name}-${name}`, path: buckets.path(name) }),
    killAt: async (victim, { wire, at }, place) => {
      await site.wires()[wire].once(at(place), async () => {
        await kill(victim);
        return 'cut';
      });
    },
    restart: async (victim, until) => {
      await handBack(victim);
      if (victim === 'bridge') {
        running.bridge = await site.startBridge(undefined, until);
      } else {
        promises.forgetProofs();
        running.function = await site.startFunction();
      }
    },
    expectEnd: async ({ name, bucket }) => {
      await buckets.gone(name);
      await queues.drained();
      expect(await buckets.versions(bucket)).toBeUndefined();
      expect(await buckets.versions(foreign)).toBe(FOREIGN_VERSIONS);
      expect(promises.broken()).toEqual([]);
      // Otherwise nothing would have been watched.
      expect(promises.watched()).toEqual(expect.arrayContaining([`destruction of ${bucket}`, `removal from ${name}`]));
    },
  };
}

interface Promises {
  /** A function that starts anew has to read ownership itself. */
  forgetProofs(): void;
  broken(): readonly string[];
  /** Every step that a promise was held against. */
  watched(): readonly string[];
}

/** Watches P1 (the entry is on until the bucket is gone) and P2 (nothing is deleted before its ownership was read). */
function watchPromises(site: TestSite, buckets: Buckets): Promises {
  const proven = new Set<string>();
  const broken: string[] = [];
  const watched: string[] = [];
  site.wires().s3.watch(async ({ phase, method, path, status }) => {
    const [bucket = '', key] = new URL(path, 'http://s3').pathname.slice(1).split('/', 2);
    const query = new URL(path, 'http://s3').searchParams;
    if (phase === 'answered' && method === 'GET' && query.has('tagging') && status === 200) proven.add(bucket);
    const isDestructive = method === 'DELETE' || (method === 'POST' && query.has('delete'));
    if (phase !== 'asked' || !isDestructive) return 'pass';
    watched.push(`destruction of ${bucket}`);
    if (!proven.has(bucket)) broken.push(`P2 ${method} ${bucket} ${key ?? ''}`);
    return 'pass';
  });
  site.wires().api.watch(async (passing) => {
    const name = passing.path.split('?', 1)[0]?.split('/').at(-1) ?? '';
    if (passing.phase !== 'asked' || !removal(buckets.path(name), 'asked').matches(passing)) return 'pass';
    watched.push(`removal from ${name}`);
    if ((await buckets.versions(`${site.name}-${name}`)) !== undefined) broken.push(`P1 ${name}`);
    return 'pass';
  });
  return { forgetProofs: () => proven.clear(), broken: () => broken, watched: () => watched };
}
