/*
 * Models of a queue that are wrong in one way each, and the script that has to tell them from a server. Used by
 * test/e2e/agreement-queue.test.ts to show that agreement is more than a word.
 */
import { type ReceivedMessage, SimulatedQueue } from '../queue.ts';

/** What is wrong, how, and the title of the script that notices. */
export interface QueueMistake {
  readonly what: string;
  readonly Queue: typeof SimulatedQueue;
  readonly noticedBy: string;
}

class CountsNothing extends SimulatedQueue {
  override receive(max: number): readonly ReceivedMessage[] {
    return super.receive(max).map((message) => ({ ...message, receiveCount: 1 }));
  }
}

class BuriesNothing extends SimulatedQueue {
  constructor(...[world, url, settings]: ConstructorParameters<typeof SimulatedQueue>) {
    super(world, url, { ...settings, maxReceiveCount: 1_000 });
  }
}

class BelievesAnybody extends SimulatedQueue {
  override send(body: string, _sender: string): void {
    super.send(body, 'AROABRIDGE:run');
  }
}

class TakesAnyReceipt extends SimulatedQueue {
  readonly #latest = new Map<string, string>();

  override receive(max: number): readonly ReceivedMessage[] {
    const received = super.receive(max);
    for (const { messageId, receiptHandle } of received) this.#latest.set(messageId, receiptHandle);
    return received;
  }

  override delete(receiptHandle: string, by: string): void {
    super.delete(this.#latest.get(receiptHandle.split('#', 1)[0] ?? '') ?? receiptHandle, by);
  }
}

class HidesForNoLonger extends SimulatedQueue {
  override changeVisibility(receiptHandle: string, seconds: number): boolean {
    return super.changeVisibility(receiptHandle, Math.min(seconds, 1));
  }
}

class DeletesAndKeeps extends SimulatedQueue {
  override delete(): void {}
}

class TakesAllAtOnce extends SimulatedQueue {
  override receive(_max: number): readonly ReceivedMessage[] {
    return super.receive(10);
  }
}

class LeavesTheSender extends SimulatedQueue {
  override redrive(): void {
    super.redrive();
  }
}

class LeavesACopy extends SimulatedQueue {
  override redrive(by?: string): void {
    const letters = [...this.deadLetters];
    super.redrive(by);
    this.deadLetters = letters;
  }
}

class CountsOn extends SimulatedQueue {
  readonly #counts = new Map<string, number>();

  override receive(max: number): readonly ReceivedMessage[] {
    return super.receive(max).map((message) => {
      const receiveCount = (this.#counts.get(message.body) ?? 0) + 1;
      this.#counts.set(message.body, receiveCount);
      return { ...message, receiveCount };
    });
  }
}

class SendsTheSame extends SimulatedQueue {
  override redrive(by?: string): void {
    for (const letter of this.deadLetters.splice(0)) this.put({ ...letter, sender: by ?? letter.sender });
  }
}

const AGAIN = 'a dead letter is the message that it was, and one that somebody sends again is a new one of theirs';

/** All of them. */
export const queueMistakes: readonly QueueMistake[] = [
  {
    what: 'gives a message out again without counting',
    Queue: CountsNothing,
    noticedBy: 'a message that is not deleted comes again when its time is over, and is counted',
  },
  {
    what: 'buries nothing',
    Queue: BuriesNothing,
    noticedBy: 'what was received too often is a dead letter at the next receive, not before',
  },
  {
    what: 'takes everybody for the bridge',
    Queue: BelievesAnybody,
    noticedBy: 'a message is given out with its sender, as the queue knows it, and hidden until it is deleted',
  },
  {
    what: 'deletes by the receipt of somebody who worked on it before',
    Queue: TakesAnyReceipt,
    noticedBy: 'a message is deleted by the newest receipt, not by that of somebody who worked on it before',
  },
  {
    what: 'hides for a second at most',
    Queue: HidesForNoLonger,
    noticedBy: 'a message that is hidden for longer does not come at its time',
  },
  {
    what: 'deletes nothing',
    Queue: DeletesAndKeeps,
    noticedBy: 'a message is deleted by the newest receipt, not by that of somebody who worked on it before',
  },
  {
    what: 'gives out more than was asked for',
    Queue: TakesAllAtOnce,
    noticedBy: 'a receive takes as many as it asks for, and leaves the rest',
  },
  {
    what: 'leaves a message that somebody sends again the sender that it had',
    Queue: LeavesTheSender,
    noticedBy: AGAIN,
  },
  {
    what: 'sends dead letters again and keeps them',
    Queue: LeavesACopy,
    noticedBy: AGAIN,
  },
  {
    what: 'counts on when a message is sent again',
    Queue: CountsOn,
    noticedBy: AGAIN,
  },
  {
    what: 'sends a dead letter again as the message that it was',
    Queue: SendsTheSame,
    noticedBy: AGAIN,
  },
];
