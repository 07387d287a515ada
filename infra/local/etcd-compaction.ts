/*
 * Makes etcd forget its history, through its JSON gateway, as an API server has it do every few minutes. Called by kube.ts; what
 * was there before can then be neither watched from nor listed on from.
 */
import { z } from 'zod/mini';

const ranged = z.object({ header: z.object({ revision: z.string() }) });

/** Compacts all up to the present revision. */
export async function compactEtcd(clientPort: number): Promise<void> {
  const ask = async (call: string, body: object) => {
    const answer = await fetch(`http://127.0.0.1:${clientPort}/v3/kv/${call}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`asking etcd for ${call}: status ${answer.status}, ${await answer.text()}`);
    return await answer.json();
  };
  const key = Buffer.from('/').toString('base64');
  const { revision } = z.parse(ranged, await ask('range', { key, count_only: true })).header;
  await ask('compaction', { revision, physical: true });
}
