/*
 * `adopt`: prints, and never runs, the commands that give the outside resource of an existing object its proof of
 * ownership. Target and proof are computed by the bridge's own code from the rule and the object; tagging.ts knows the
 * commands. Whoever runs them says that the resource may be deleted with the object.
 */
import * as z from 'zod/mini';
import type { Evaluation, Rule } from '../rule.ts';
import { type Context, defineCommand, EXIT, Failure, misused } from './command.ts';
import { print } from './print.ts';
import { isFor, readRule, readRules } from './rule-sight.ts';
import { showsAll } from './shell.ts';
import { entriesOf, findSubject, inVersion, type Subject, takesSubject, type Versioned } from './subject.ts';
import { type Tagging, type Tags, taggingOf } from './tagging.ts';

/** What `adopt -o json` prints of one rule. */
export interface Adoption {
  readonly rule: string;
  readonly handler: string;
  readonly target?: unknown;
  readonly tags?: Tags | undefined;
  readonly account?: string | undefined;
  /** Prints what of its tags is there with another value; nothing if none is. */
  readonly look?: string | undefined;
  readonly command?: string | undefined;
  /** Why there is no command. */
  readonly why?: string | undefined;
  /** Nothing has to be done: the rule needs no proof. */
  readonly needless: boolean;
  /** What is not as the rule says. */
  readonly note?: string | undefined;
}

/** Each is looked up. */
const RULES_MAX = 50;

export const adopt = defineCommand({
  name: 'adopt',
  summary: 'Prints commands that give an existing outside resource its proof of ownership',
  usage: (command) =>
    takesSubject(command)
      .option('--rule <name>', 'only this rule; else all that hold the object, or that select it')
      .option('--anew', 'tag also what carries the proof of something else, as after a restore'),
  options: z.object({ rule: z.optional(z.string()), anew: z._default(z.boolean(), false) }),
  async run(context, args, { rule: wanted, anew }) {
    const subject = await findSubject(context, args);
    const adoptions: Adoption[] = [];
    for (const rule of await rulesFor(context, subject, wanted)) {
      adoptions.push(adoptionOf(rule, await inVersion(context, subject, rule)));
    }
    const { name, path, object } = subject;
    const data = { object: name, namespace: path.namespace, uid: object.metadata.uid, rules: adoptions };
    print(context, { data, lines: adoptions.flatMap((adoption) => linesOf(subject, adoption, anew)) });
    const failed = adoptions.filter(({ command, needless }) => command === undefined && !needless);
    for (const { note } of adoptions) if (note !== undefined) context.err(`note: ${note}`);
    for (const { rule, why = '' } of failed) context.err(`no command for rule ${rule}: ${why}`);
    return failed.length === 0 ? EXIT.ok : EXIT.failed;
  },
});

async function rulesFor(context: Context, subject: Subject, wanted: string | undefined): Promise<readonly Rule[]> {
  const names = wanted === undefined ? entriesOf(subject) : [wanted];
  if (names.length > RULES_MAX)
    throw misused(`${names.length} rules hold ${subject.name}; say which is meant by --rule`);
  if (names.length > 0) return await Promise.all(names.map((name) => namedRule(context, name, subject)));
  const { kind, object, name } = subject;
  const { labels = {} } = object.metadata;
  const found = (await readRules(context)).flatMap(({ rule }) => (rule === undefined ? [] : [rule]));
  const selecting = found.filter(({ match, matches }) => isFor(match, kind) && matches(labels));
  if (selecting.length === 0) throw new Failure(`no rule holds ${name}, and none selects it by kind and labels`);
  return selecting;
}

async function namedRule(context: Context, name: string, subject: Subject): Promise<Rule> {
  const sight = await readRule(context, name, subject.kind);
  if (sight.kind === 'missing') throw new Failure(`there is no TeardownRule ${name}`);
  if (sight.kind === 'elsewhere')
    throw new Failure(`rule ${name} is for ${sight.selects}, and not for ${subject.name}`);
  if (sight.kind === 'unreadable') throw new Failure(`reading rule ${name}: not allowed: ${sight.why}`);
  if (sight.rule === undefined) throw new Failure(`rule ${name} cannot be used: ${sight.faults.join('; ')}`);
  return sight.rule;
}

function adoptionOf(rule: Rule, { object, note }: Versioned): Adoption {
  const { target, ownership } = rule.evaluate(object);
  const known = { rule: rule.name, handler: rule.handler, needless: false, note };
  if (target.kind !== 'found') return { ...known, why: `target ${target.key}: ${target.detail}` };
  const withTarget = { ...known, target: target.target };
  if (ownership.kind !== 'found') return { ...withTarget, why: `ownership ${ownership.key}: ${ownership.detail}` };
  const tags = tagsOf(ownership);
  if (tags === undefined) return { ...withTarget, needless: true };
  const isShown = [target.target, tags].every((values) => showsAll(JSON.stringify(values)));
  const tagging: Tagging = isShown
    ? taggingOf(rule.handler, target.target, tags)
    : { kind: 'none', why: 'target or tags have characters that do not show as what they are' };
  return tagging.kind === 'none'
    ? { ...withTarget, tags, why: tagging.why }
    : { ...withTarget, tags, account: tagging.account, look: tagging.look, command: tagging.command };
}

function tagsOf({ ownership }: Extract<Evaluation['ownership'], { kind: 'found' }>): Tags | undefined {
  return 'tags' in ownership ? ownership.tags : undefined;
}

/** A piece of a script: what is said is a comment, and nothing is done with the credentials of another account. */
function linesOf({ name, path }: Subject, adoption: Adoption, anew: boolean): readonly string[] {
  const { rule, handler, target, tags = {}, needless, note } = adoption;
  const place = path.namespace === undefined ? '' : ` in namespace ${path.namespace}`;
  return [
    `# ${name}${place}, rule ${rule}, handler ${handler}`,
    ...(note === undefined ? [] : [`# ${note}`]),
    ...(target === undefined ? [] : [`# target: ${JSON.stringify(target)}`]),
    ...(needless ? ['# The rule needs no proof of ownership: there is nothing to tag.'] : []),
    ...Object.entries(tags).map(([key, value]) => `# tag: ${JSON.stringify(key)} = ${JSON.stringify(value)}`),
    ...guarded(adoption, anew),
  ];
}

/** Nothing is tagged that carries the proof of something else, unless that is asked for. */
function guarded({ account, look, command }: Adoption, anew: boolean): readonly string[] {
  if (account === undefined || look === undefined || command === undefined) return [];
  const unread = [`elif ! others="$(${look})"; then echo 'not tagged: its tags could not be read' >&2`];
  const another = [
    'elif [ -n "$others" ]; then',
    '  printf \'not tagged: it carries the proof of something else, which only adopt --anew replaces: %s\\n\' "$others" >&2',
  ];
  return [
    '# With these tags the resource is deleted when the object is. Look whether it is the right one, then run:',
    `if [ "$(aws sts get-caller-identity --query Account --output text)" != ${account} ]; then`,
    `  echo 'not tagged: these credentials are not of account ${account}' >&2`,
    ...(anew ? [] : [...unread, ...another]),
    `else ${command}`,
    'fi',
  ];
}
