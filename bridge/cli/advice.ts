/*
 * What an entry waits for and what a person can do about it, by the reason that stands on the object. Called by
 * entry-facts.ts. The reasons are those of decide.ts and of the functions; one that is not known here gets advice that
 * is true of every refusal.
 */

/** One thing to do. `command` is exact, ready to be pasted, where there is one. */
export interface NextStep {
  readonly say: string;
  readonly command?: string | undefined;
}

/** What is waited for, and what can be done. */
export interface Advice {
  readonly waitsFor: string;
  readonly next: readonly NextStep[];
}

/** The commands that advice is made of, for one entry. */
export interface Commands {
  readonly retry: string;
  readonly release: string;
  readonly releaseNow: string;
  readonly approve: string;
  readonly adopt: string;
  readonly describeRule: string;
  readonly describeObject: string;
}

type Advising = (commands: Commands) => Advice;

const retry = ({ retry: command }: Commands, say = 'then ask again'): NextStep => ({ say, command });
const release = ({ release: command }: Commands): NextStep => ({
  say: 'or let it go without teardown',
  command,
});
const rule = ({ describeRule: command }: Commands, say: string): NextStep => ({ say, command });

/** Mend something, ask again, or give up on it. */
const mend =
  (waitsFor: string, say: string): Advising =>
  (commands) => ({
    waitsFor,
    next: [{ say }, retry(commands), release(commands)],
  });
/** Goes on without anybody. */
const waits =
  (waitsFor: string): Advising =>
  () => ({ waitsFor, next: [] });

const LOOK_BEFORE: NextStep = {
  say:
    "look at what the object named before, in its manifest's history, the audit log or the function's log, and take that " +
    'down by hand if it is still there',
};

const UNANSWERED: NextStep = {
  say:
    "look into the function's log: UnknownSender or UnknownCluster mean that it does not know this bridge, nothing at all that " +
    "the queue does not feed it; WrongSender in the bridge's log that the bridge does not know the function",
};

const BY_REASON: Readonly<Record<string, Advising>> = {
  NoRule: (commands) => ({
    waitsFor: 'a rule with the name of the entry',
    next: [{ say: 'restore the TeardownRule; it goes on by itself' }, release(commands)],
  }),
  RuleNotAccepted: (commands) => ({
    waitsFor: 'the rule to be accepted; nothing is sent meanwhile',
    next: [rule(commands, 'mend the rule; it goes on by itself'), release(commands)],
  }),
  PolicyInvalid: (commands) => ({
    waitsFor: 'a policy that says Delete or Retain for this object',
    next: [rule(commands, 'mend the rule or the object; it goes on by itself'), release(commands)],
  }),
  TargetInvalid: (commands) => ({
    waitsFor: 'a target that can be computed',
    next: [rule(commands, 'mend the object or the rule; it goes on by itself'), release(commands)],
  }),
  OwnershipInvalid: (commands) => ({
    waitsFor: 'a proof of ownership that can be computed',
    next: [rule(commands, 'mend the object or the rule; it goes on by itself'), release(commands)],
  }),
  TargetMissing: (commands) => ({
    waitsFor: 'the object to name its outside resource',
    next: [
      {
        say: 'if it has one, write it where the rule reads it; it goes on by itself',
        command: commands.describeObject,
      },
      { say: 'if it never had one, let it go', command: commands.release },
    ],
  }),
  TargetChanged: (commands) => ({
    waitsFor: 'a person to look at the old and the new target',
    next: [{ say: 'look at both outside resources' }, retry(commands, 'to take the new one down'), release(commands)],
  }),
  FoundNothing: (commands) => ({
    waitsFor: 'a person: the first look found nothing to delete',
    next: [
      { say: 'if it is in truth gone, let the object go', command: commands.release },
      retry(commands, 'or look once more'),
    ],
  }),
  BudgetExceeded: (commands) => ({
    waitsFor: "the window of the rule's budget to move, or an approval",
    next: [{ say: 'let this deletion through now', command: commands.approve }],
  }),
  BudgetNotKept: (commands) => ({
    waitsFor:
      'the definition of TeardownRule that belongs to this release, as without it the budget cannot be counted; or an approval',
    next: [
      rule(commands, 'look at what the rule says of StatusNotKept'),
      { say: 'let this deletion through now', command: commands.approve },
    ],
  }),
  WaitForTimedOut: waits('finalizers of others, see below; it goes on by itself when they are off'),
  WaitingForFinalizers: waits('finalizers of others, see below'),
  DeadlineExceeded: (commands) => ({
    waitsFor: 'a result; the bridge goes on asking although the deadline has passed',
    next: [UNANSWERED, { say: 'and into its dead-letter queue' }, retry(commands), release(commands)],
  }),
  QueueTooSlow: (commands) => ({
    waitsFor: 'a function that takes requests before they expire',
    next: [{ say: "look at the age of the oldest message in the handler's queue" }, retry(commands)],
  }),
  DeadLettered: (commands) => ({
    waitsFor: 'the request of the next term; no function has brought the last one to an end',
    next: [{ say: "look into the function's log, and at the body in the archive of dead letters" }, retry(commands)],
  }),
  Paused: (commands) => ({
    waitsFor: 'the rule not to be paused any more; nothing new is sent',
    next: [rule(commands, 'take `paused` off the rule; it goes on by itself')],
  }),
  GracePeriod: waits("the object's grace period to end"),
  Requested: waits('the result of the request that was sent'),
  WaitingForCopies: waits('the last copy of a request that can still run; the outside resource is gone'),
  RetainWaiting: waits(
    'any request that may have been sent to expire; then the object goes and the outside resource stays',
  ),
  ReleaseWaiting: ({ releaseNow }) => ({
    waitsFor: 'any request that may have been sent to expire; then the entry comes off',
    next: [{ say: 'not to wait, though a teardown may still happen', command: releaseNow }],
  }),
  NotOwned: (commands) => ({
    waitsFor: 'the outside resource to carry the proof that it belongs to this object',
    next: [
      { say: 'if it does belong to it, print the commands that tag it', command: commands.adopt },
      retry(commands),
      release(commands),
    ],
  }),
  Kept: mend(
    'the tag finalizer-bridge.dev/keep to be taken off the outside resource',
    'if it may be deleted, take the tag off',
  ),
  YoungerThanDeletion: mend(
    'a person: the outside resource was made after the deletion began, so it may belong to a successor',
    'look whose it is',
  ),
  Failing: (commands) => ({
    waitsFor: 'the API server to take a write of the bridge',
    next: [rule(commands, "look at the rule's conditions and the bridge's log; it goes on by itself")],
  }),
};

/** By the reason, where an earlier bridge may have asked for another target and nobody knows which (trap V10). */
const UNKNOWN_TARGET: Readonly<Record<string, (commands: Commands, wasAsked: boolean) => Advice>> = {
  TargetMissing: (commands) => ({
    waitsFor: 'a person: what the object named before may have been asked for, and nobody knows whether it is gone',
    next: [LOOK_BEFORE, { say: 'when that is gone, let the object go', command: commands.release }],
  }),
  TargetChanged: (commands, wasAsked) => ({
    waitsFor: 'a person: another target may have been requested before the bridge looked, and nobody knows which',
    next: [
      LOOK_BEFORE,
      ...(wasAsked ? [] : [retry(commands, 'to take the present one down')]),
      { say: 'when both are gone, let the object go: the earlier one is never confirmed', command: commands.release },
    ],
  }),
};

const refusal = mend('the cause of the refusal to be mended; asked again once a day at the latest', 'mend the cause');

/** What of a record is gone by. */
export interface Told {
  readonly phase: 'Pending' | 'Held';
  readonly reason: string;
  readonly targets?: readonly { readonly requested: boolean }[] | undefined;
  readonly unknownTarget?: boolean | undefined;
}

/** Advice on an entry of an object that is being deleted. */
export function adviceFor({ phase, reason, targets = [], unknownTarget }: Told, commands: Commands): Advice {
  const careful = unknownTarget === true && Object.hasOwn(UNKNOWN_TARGET, reason) ? UNKNOWN_TARGET[reason] : undefined;
  if (careful !== undefined) {
    return careful(
      commands,
      targets.some(({ requested }) => requested),
    );
  }
  const known = Object.hasOwn(BY_REASON, reason) ? BY_REASON[reason] : undefined;
  if (known !== undefined) return known(commands);
  return phase === 'Held' ? refusal(commands) : { waitsFor: 'the function, which said why it is not done', next: [] };
}

/** Advice on an entry whose request nobody has answered for long. */
export function adviceOnNoAnswer(commands: Commands): Advice {
  return {
    waitsFor: 'the result of the request that was sent; nobody has answered yet',
    next: [UNANSWERED, retry(commands), release(commands)],
  };
}

/** Advice on an entry whose rule's name another kind's rule has: there can be one rule of a name. */
export function adviceOnOtherKind(selects: string, commands: Commands): Advice {
  return {
    waitsFor: 'a rule with the name of the entry, for this kind',
    next: [
      { say: `the rule of that name is for ${selects}: one for this kind can only be restored in its place` },
      release(commands),
    ],
  };
}

/** Advice on an entry of an object that is not being deleted. */
export function adviceOnLive(hasNoRule: boolean, commands: Commands): Advice {
  return {
    waitsFor: 'nothing: the object is not being deleted',
    next: hasNoRule
      ? [{ say: 'no rule is for it: it is held once it is deleted; restore the rule' }, release(commands)]
      : [],
  };
}

/** Advice on an entry whose rule names a handler of which the bridge knows no queue. */
export function adviceOnNoQueue(commands: Commands): Advice {
  return {
    waitsFor: 'a queue of the handler; nothing is sent meanwhile',
    next: [
      { say: "deploy the handler's function, and give the bridge its queue (the chart's value `handlers`)" },
      rule(commands, 'or name another handler in the rule; it goes on by itself'),
      release(commands),
    ],
  };
}
