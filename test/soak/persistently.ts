/*
 * A call to an API server that may be away: tried again until it has answered. The soak restarts that server, and what people
 * and its own audit ask of it must not fail for that. Used by world.ts and stage.ts.
 */
import { setTimeout as wait } from 'node:timers/promises';

const EVERY_MS = 300;
const WITHIN_MS = 120_000;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * The first answer that is none of a server that is away or busy. An object that is there already, or not any more, is as good.
 * @throws Error when there is none for two minutes, or when the call is refused
 */
export async function persistently<T extends Answer>(what: string, call: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + WITHIN_MS; ; await wait(EVERY_MS)) {
    const answer = await call().catch((cause: unknown) => {
      if (Date.now() > until) throw new Error(`${what}: the API server is away`, { cause });
      return undefined;
    });
    if (answer === undefined || answer.status === 429 || answer.status >= 500) {
      if (Date.now() > until) throw new Error(`${what}: no answer but ${answer?.status ?? 'none'}`);
      continue;
    }
    if (answer.status < 300 || answer.status === 404) return answer;
    throw new Error(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}
