/*
 * Behaviours of queues as scripts. Run against the model and an emulator of SQS by test/e2e/agreement-queue.test.ts. Where the
 * emulator is known to be otherwise than SQS is documented, the model follows the documentation, and the script is in `differing`.
 */
import { QUEUE_SENDERS, type QueueScript, type QueueStep } from './queue-script.ts';

const OVER_LIMIT = 'x'.repeat(1_048_577);

/** Received as often as it may be, and once more. */
const buried: readonly QueueStep[] = [
  { do: 'receive', max: 10 },
  { do: 'hide', bodies: ['a', 'b'], seconds: 0 },
  { do: 'receive', max: 10 },
  { do: 'hide', bodies: ['a', 'b'], seconds: 0 },
  { do: 'receive', max: 10 },
];

/** What model and emulator agree on. */
export const queueScripts: readonly QueueScript[] = [
  {
    title: 'a message is given out with its sender, as the queue knows it, and hidden until it is deleted',
    steps: [
      { do: 'receive', max: 10 },
      { do: 'send', bodies: ['a', 'b'] },
      { do: 'send', bodies: ['c'], by: 'stranger' },
      { do: 'receive', max: 10 },
      { do: 'receive', max: 10 },
      { do: 'delete', body: 'a' },
      { do: 'delete', body: 'a' },
      { do: 'hide', bodies: ['b', 'c'], seconds: 0 },
      { do: 'receive', max: 10 },
    ],
  },
  {
    title: 'a receive takes as many as it asks for, and leaves the rest',
    steps: [
      { do: 'send', bodies: ['a', 'a', 'a', 'a', 'a', 'a', 'a'] },
      { do: 'receive', max: 3 },
      { do: 'receive', max: 10 },
      { do: 'receive', max: 1 },
    ],
  },
  {
    title: 'a message that is not deleted comes again when its time is over, and is counted',
    options: { visibilitySeconds: 1 },
    steps: [
      { do: 'send', bodies: ['a'] },
      { do: 'receive', max: 10 },
      { do: 'receive', max: 10, waits: true },
    ],
  },
  {
    title: 'a message is deleted by the newest receipt, not by that of somebody who worked on it before',
    steps: [
      { do: 'send', bodies: ['a'] },
      { do: 'receive', max: 10 },
      { do: 'hide', bodies: ['a'], seconds: 0 },
      { do: 'receive', max: 10 },
      { do: 'delete', body: 'a', receipt: 'first' },
      { do: 'hide', bodies: ['a'], seconds: 0 },
      { do: 'receive', max: 10 },
      { do: 'delete', body: 'a' },
      { do: 'hide', bodies: ['a'], seconds: 0 },
    ],
  },
  {
    title: 'a message that is hidden for longer does not come at its time',
    steps: [
      { do: 'send', bodies: ['a'] },
      { do: 'receive', max: 10 },
      { do: 'hide', bodies: ['a'], seconds: 5 },
      { do: 'hide', bodies: ['a'], seconds: 600 },
      { do: 'sendLater', body: 'b', seconds: 6 },
      { do: 'receive', max: 10, waits: true },
    ],
  },
  {
    title: 'only what is in work can be hidden, by the receipt of who works on it',
    steps: [
      { do: 'send', bodies: ['a'] },
      { do: 'receive', max: 10 },
      { do: 'hide', bodies: ['a'], seconds: 0 },
      { do: 'hide', bodies: ['a'], seconds: 600 },
      { do: 'receive', max: 10 },
      { do: 'hide', bodies: ['a'], seconds: 0, receipt: 'first' },
      { do: 'receive', max: 10 },
      { do: 'hideUnknown' },
      { do: 'deleteUnknown' },
    ],
  },
  {
    title: 'in a batch of visibilities those that can be changed are changed',
    steps: [
      { do: 'send', bodies: ['a', 'b'] },
      { do: 'receive', max: 10 },
      { do: 'delete', body: 'a' },
      { do: 'hide', bodies: ['a', 'b'], seconds: 0 },
      { do: 'receive', max: 10 },
    ],
  },
  {
    title: 'what was received too often is a dead letter at the next receive, not before',
    options: { maxReceiveCount: 2 },
    steps: [
      { do: 'send', bodies: ['a'] },
      { do: 'receive', max: 10 },
      { do: 'hide', bodies: ['a'], seconds: 0 },
      { do: 'receive', max: 10 },
      { do: 'hide', bodies: ['a'], seconds: 0 },
      { do: 'dead' },
      { do: 'send', bodies: ['b'] },
      { do: 'receive', max: 10 },
      { do: 'dead' },
      { do: 'receive', max: 10 },
    ],
  },
  {
    title: 'a dead letter is the message that it was, and one that somebody sends again is a new one of theirs',
    options: { maxReceiveCount: 2 },
    steps: [
      { do: 'send', bodies: ['a'] },
      { do: 'send', bodies: ['b'], by: 'stranger' },
      ...buried,
      { do: 'dead' },
      { do: 'sendAgain', by: 'stranger' },
      { do: 'dead' },
      ...buried,
      { do: 'dead' },
      { do: 'sendAgain', by: 'bridge' },
      { do: 'receive', max: 10 },
      { do: 'delete', body: 'a' },
      { do: 'hide', bodies: ['b'], seconds: 0 },
      { do: 'receive', max: 10 },
      { do: 'dead' },
    ],
  },
  {
    title: 'a poll that waits is woken by what is sent',
    steps: [{ do: 'poll' }, { do: 'send', bodies: ['a'] }, { do: 'polled' }, { do: 'receive', max: 10 }],
  },
  {
    title: 'a batch has at most ten entries, at least one, and ids that differ',
    steps: [
      { do: 'send', bodies: Array.from({ length: 11 }, () => 'a') },
      { do: 'send', bodies: [] },
      { do: 'send', bodies: ['a', 'b'], ids: ['same', 'same'] },
      { do: 'send', bodies: ['a'], ids: ['no id: a space'] },
      { do: 'receive', max: 10 },
    ],
  },
  {
    title: 'a batch that is too long is refused whole',
    steps: [
      { do: 'send', bodies: [OVER_LIMIT] },
      { do: 'send', bodies: ['x'.repeat(600_000), 'x'.repeat(600_000)] },
      { do: 'send', bodies: ['é'.repeat(600_000)] },
      { do: 'receive', max: 10 },
      { do: 'send', bodies: ['x'.repeat(1_048_000)] },
      { do: 'receive', max: 10 },
    ],
  },
  {
    title: 'an entry that no message can be is refused alone',
    steps: [
      { do: 'send', bodies: ['a', 'b\u0001', 'c\ufffe', 'd\tä\u2028'] },
      { do: 'receive', max: 10 },
    ],
  },
  {
    title: 'a purge takes out what is visible and what is in work',
    steps: [
      { do: 'send', bodies: ['a', 'b'] },
      { do: 'receive', max: 1 },
      { do: 'purge' },
      { do: 'receive', max: 10 },
      { do: 'hideUnknown' },
    ],
  },
];

/** A behaviour in which the emulator is not as SQS is documented, and what SQS would show in the last step. */
export interface Differing extends QueueScript {
  readonly documented: unknown;
}

/**
 * The documentation is that of SQS: DeleteMessage, the characters of SendMessage, and the redrive of dead letters, which makes new
 * messages of them. Of their sender it says nothing: the model leaves them the one that they had, of whom more is believed.
 */
export const differing: readonly Differing[] = [
  {
    title: 'the newest receipt deletes a message that is visible again',
    steps: [
      { do: 'send', bodies: ['a'] },
      { do: 'receive', max: 10 },
      { do: 'hide', bodies: ['a'], seconds: 0 },
      { do: 'delete', body: 'a' },
      { do: 'receive', max: 10 },
    ],
    documented: [],
  },
  {
    title: 'characters beyond the first 65,536 are allowed',
    steps: [{ do: 'send', bodies: ['😀'] }],
    documented: [],
  },
  {
    title: 'dead letters that are redriven are new messages, received for the first time',
    options: { maxReceiveCount: 1 },
    steps: [
      { do: 'send', bodies: ['a'] },
      { do: 'receive', max: 10 },
      { do: 'hide', bodies: ['a'], seconds: 0 },
      { do: 'receive', max: 10 },
      { do: 'redrive' },
      { do: 'dead' },
      { do: 'receive', max: 10 },
    ],
    documented: [{ body: 'a', receiveCount: 1, sender: QUEUE_SENDERS.bridge, uid: 'uid 2' }],
  },
];
