/*
 * Rules whose expressions read what their kind's schema does not have: what their condition says, and that they recover by
 * themselves when the schema changes. The judge over plain data, then with the keeper over fakes.
 */
import { describe, expect, it } from 'vitest';
import { RECHECK_MS, REJUDGE_MS } from '../../bridge/rule-enforcing.ts';
import { bucketSchema, manyWays } from '../support/api-schemas.ts';
import { RULE } from '../support/bridge-builders.ts';
import type { FakeKinds } from '../support/fake-kinds.ts';
import { judged } from '../support/judged-rules.ts';
import { RuleScene } from '../support/rule-scene.ts';

const KIND = 'storage.example.com/v1/buckets';
/** Lets buckets have what their schema says, and nothing else. */
const closes = ({ schemas }: FakeKinds) => void schemas.set(KIND, { known: true, schema: bucketSchema(manyWays) });

describe('a rule', () => {
  it('that reads what its kind does not have is not accepted, and names expression, path and what is near', async () => {
    const { said, messages } = await judged(
      {
        target: { bucket: 'object.spec.regoin', zone: 'object.spec.zones.name', size: 'object.spec.region.size' },
        policy: "object.metadata.anotations[?'a'].orValue('Delete')",
      },
      closes,
    );
    expect(said).toMatchObject({ Accepted: 'False UnknownField', Ready: 'False UnknownField' });
    const kind = 'buckets.v1.storage.example.com';
    expect(messages.Accepted?.split('; ')).toEqual([
      `spec.target.bucket: no object of ${kind} has object.spec.regoin`,
      'near it: region, replicas, port (in object.spec.regoin)',
      `spec.target.zone: no object of ${kind} has object.spec.zones.name: that is a field of a list, of which an item is to be picked first (in object.spec.zones.name)`,
      `spec.target.size: no object of ${kind} has object.spec.region.size: that is a field of a single value (in object.spec.region.size)`,
      `spec.policy: no object of ${kind} has object.metadata.anotations`,
      "near it: annotations, name, labels (in object.metadata.anotations[?'a'].orValue('Delete'))",
    ]);
  });

  it('names five unknown paths, and says how many more there are', async () => {
    const target = Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`k${at}`, `object.spec.no${at}`]));
    const { messages } = await judged({ target }, closes);
    expect(messages.Accepted?.match(/no object of/g)).toHaveLength(5);
    expect(messages.Accepted).toMatch(/; and 2 more$/);
  });

  it('is not refused by a schema that is behind', async () => {
    const { said } = await judged({ target: { bucket: 'object.spec.regoin' } }, (kinds) => {
      closes(kinds);
      const schema = bucketSchema({ type: 'object', properties: { regoin: {} } });
      kinds.fresh.set(KIND, { known: true, schema });
    });
    expect(said).toMatchObject({ Accepted: 'True Accepted' });
  });

  it('whose schema cannot be read works, and says that its paths were not checked', async () => {
    const unread = { known: false, why: 'HTTP 403', mayCome: false } as const;
    const { said, messages } = await judged({}, ({ schemas }) => void schemas.set(KIND, unread));
    expect(said).toMatchObject({ Accepted: 'True Accepted', Ready: 'True Ready' });
    expect(messages.Accepted).toBe('the rule is in force; whether its paths exist was not checked: HTTP 403');
  });

  it('whose schema is not published yet is judged by it within seconds when it is, not minutes', async () => {
    const unread = { known: false, why: 'not yet', mayCome: true } as const;
    const scene = await RuleScene.start({ prepare: ({ kinds }) => void kinds.schemas.set(KIND, unread) });
    await scene.apply({ target: { bucket: 'object.spec.regoin' } });
    expect(scene.said('Ready')).toBe('True Ready');
    closes(scene.kinds);
    await scene.clock.advance(REJUDGE_MS + 2_000);
    expect(scene.said('Ready')).toBe('False UnknownField');
  });

  it('recovers by itself when the schema of its kind gets what it reads, and says so when that goes', async () => {
    const scene = await RuleScene.start({ prepare: ({ kinds }) => closes(kinds) });
    await scene.apply({ target: { bucket: 'object.spec.bucket' } });
    expect(scene.said('Ready')).toBe('False UnknownField');
    scene.kinds.schemas.clear();
    await scene.clock.advance(REJUDGE_MS + 2_000);
    expect(scene.said('Ready')).toBe('True Ready');
    closes(scene.kinds);
    await scene.clock.advance(RECHECK_MS + 2_000);
    expect(scene.said('Ready')).toBe('False UnknownField');
    expect(scene.book.named(RULE)?.notAccepted).toContain('object.spec.bucket');
  });
});
