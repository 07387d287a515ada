/*
 * The conformance suite itself: a good handler passes it, and each way of breaking the contract is found by its check.
 * The handlers live in a Map, so that the checks are tried and not a cloud.
 */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { CallFailed } from '../../functions/calls.ts';
import {
  type Absence,
  defineHandler,
  gone,
  type Handler,
  refused,
  type TeardownContext,
} from '../../functions/handler.ts';
import { type ConformanceHarness, conformance, type Scene } from '../../functions/testing.ts';
import { ACCOUNT, REGION, UID } from './fixtures.ts';
import { OWNED, realClock } from './runs.ts';

type Tags = Readonly<Record<string, string>>;
/** The outside world: things and their tags. */
type World = Map<string, Tags>;
type Context = TeardownContext<{ readonly name: string }, object, undefined>;
const notFound = () => Object.assign(new Error('no'), { name: 'NoSuchThing', $metadata: { httpStatusCode: 404 } });

const faultTitles = {
  'does not know absent': 'says gone, absent, when there is nothing',
  'forgets to delete': 'takes an owned target down, and says gone again whenever asked',
  'refuses duplicates': 'ends the same when called five times at once',
  'asks for no ownership': 'refuses what ownership does not prove, and leaves it',
  'overlooks the keep tag': 'refuses what carries the keep tag, whatever the rule says',
  'bypasses its calls': 'begins no destructive call after the abort signal, wherever it comes',
  'takes failures for gone': 'never says gone because a call failed, and ends the same after it',
  'gives up what it lost sight of': 'ends the same when a call was done and its answer is lost',
  'ignores options': 'refuses an option that it does not know',
} as const;
type Fault = keyof typeof faultTitles;

function handlerIn(world: World, fault?: Fault, absence: Absence = 'gone'): Handler {
  let inWork = 0;
  const lost = new Set<string>();
  const look = async ({ target, calls }: Context) => {
    const answer = await calls.look('things:Get', async () => {
      const tags = world.get(target.name);
      if (tags === undefined) throw notFound();
      return tags;
    });
    return answer.means === 'done' ? answer.value : undefined;
  };
  const remove = (context: Context) => async () => {
    world.delete(context.target.name);
  };
  const teardown = async (context: Context) => {
    const tags = await look(context);
    if (tags === undefined && absence === 'refused') return refused({ reason: 'NoSuchThing', message: 'not there' });
    if (tags === undefined) return fault === 'does not know absent' ? gone('deleted') : gone('absent');
    const { 'finalizer-bridge.dev/keep': _, ...withoutKeep } = tags;
    const read = fault === 'overlooks the keep tag' ? withoutKeep : tags;
    const verdict = context.calls.prove(new Map(Object.entries(fault === 'asks for no ownership' ? OWNED : read)));
    if (!verdict.owned) return refused(verdict);
    if (fault === 'bypasses its calls') await remove(context)();
    else if (fault !== 'forgets to delete') await context.calls.destroy('things:Delete', remove(context));
    return gone('deleted');
  };
  return defineHandler({
    name: 'thing',
    version: '1',
    target: z.strictObject({ name: z.string() }),
    options: fault === 'ignores options' ? z.object({}) : z.strictObject({}),
    permissions: [],
    absence,
    errors: { 'things:Get': { NoSuchThing: { means: 'gone', reason: 'NotFound' } } },
    identity: ({ name }) => ({ names: [name], place: 'outside' }),
    service: 'things',
    connect: () => undefined,
    async teardown(context) {
      inWork += 1;
      try {
        if (fault === 'refuses duplicates' && inWork > 1) return refused({ reason: 'Busy', message: 'one at a time' });
        const isGivenUp = fault === 'gives up what it lost sight of' && lost.has(context.target.name);
        return isGivenUp ? refused({ reason: 'Lost', message: 'not known' }) : await teardown(context);
      } catch (error) {
        if (fault === 'takes failures for gone' && error instanceof CallFailed) return gone('absent');
        lost.add(context.target.name);
        throw error;
      } finally {
        inWork -= 1;
      }
    },
  });
}

function suite(fault?: Fault, absence?: Absence) {
  const world: World = new Map();
  return suiteOf(world, handlerIn(world, fault, absence));
}

function suiteOf(world: World, handler: Handler) {
  let number = 0;
  const scene = async (tags?: Tags): Promise<Scene> => {
    number += 1;
    const name = `thing ${number}`;
    if (tags !== undefined) world.set(name, tags);
    return { target: { name }, exists: async () => world.has(name) };
  };
  const harness: ConformanceHarness = {
    ...{ account: ACCOUNT, region: REGION, uid: UID, ownership: { tags: OWNED }, clock: realClock },
    aws: (_service, region) => ({
      region,
      maxAttempts: 1,
      requestHandler: { connectionTimeout: 1, requestTimeout: 1, throwOnRequestTimeout: true },
    }),
    absent: () => scene(),
    owned: () => scene(OWNED),
    foreign: () => scene({}),
    kept: () => scene({ ...OWNED, 'finalizer-bridge.dev/keep': '' }),
  };
  return conformance(handler, harness);
}

describe('a handler that keeps the contract', () => {
  it.each(suite())('$title', ({ run }) => run());
});

describe.each(Object.entries(faultTitles))('a handler that %s', (fault, title) => {
  it(`fails "${title}"`, async () => {
    const check = suite(isFault(fault) ? fault : undefined).find((one) => one.title === title);
    await expect(check?.run()).rejects.toThrow();
  });
});

it('may say of a handler that it refuses what is not there, and then is held to that', async () => {
  const title = 'refuses, and never says gone, when its target is not there';
  const find = (checks: ReturnType<typeof suite>) => checks.find((one) => one.title === title);
  expect(find(suite())).toBeUndefined();
  await find(suite(undefined, 'refused'))?.run();
  const saysGone = { ...handlerIn(new Map()), absence: 'refused' as const };
  await expect(find(suiteOf(new Map(), saysGone))?.run()).rejects.toThrow();
});

it('has a fault for every check', () => {
  expect(
    suite()
      .map(({ title }) => title)
      .sort(),
  ).toEqual(Object.values(faultTitles).sort());
});

function isFault(text: string): text is Fault {
  return Object.hasOwn(faultTitles, text);
}
