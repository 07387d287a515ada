/*
 * What is remembered of rules that were read before: never another rule's, another generation's or another spec's.
 * The reader alone, over plain data.
 */
import { describe, expect, it } from 'vitest';
import { RuleReader } from '../../bridge/rule-reader.ts';
import { ruleFromObject } from '../../bridge/rules.ts';
import { RULE } from '../support/bridge-builders.ts';
import { ruleObject } from '../support/rule-objects.ts';

const handlerIn = (parsed: ReturnType<typeof ruleFromObject>) => (parsed.ok ? parsed.rule.handler : parsed.faults);

describe('a rule that is read again', () => {
  it('is the same value while it is the same generation, and reads as it would without a memory', () => {
    const reader = new RuleReader();
    const first = reader.read(ruleObject());
    const again = reader.read(structuredClone(ruleObject()));
    expect(again).toBe(first);
    expect(JSON.stringify(again)).toBe(JSON.stringify(ruleFromObject(ruleObject())));
  });

  it('is read anew when its spec, its generation or its uid is another', () => {
    const reader = new RuleReader();
    const before = ruleObject();
    reader.read(before);
    const edited = ruleObject({ handler: 'another' });
    expect(handlerIn(reader.read(edited))).toBe('another');
    const { metadata } = before;
    const later = { ...before, metadata: { ...metadata, generation: 7 } };
    expect(reader.read(later)).toMatchObject({ rule: { generation: 7 } });
    const successor = { ...before, metadata: { ...metadata, uid: 'uid-of-the-successor' } };
    expect(reader.read(successor)).toMatchObject({ rule: { uid: 'uid-of-the-successor' } });
  });

  it('keeps its faults in mind as well, and is forgotten when the rule goes', () => {
    const reader = new RuleReader();
    const broken = ruleObject({ paused: 'no' });
    const faults = reader.read(broken);
    expect(faults).toMatchObject({ ok: false });
    expect(reader.read(broken)).toBe(faults);
    expect(reader.size).toBe(1);
    reader.forget(RULE);
    expect(reader.size).toBe(0);
  });
});
