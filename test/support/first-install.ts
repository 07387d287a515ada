/*
 * Somebody who installs the whole for the first time, as the documents say: an API server with helm and kubectl, an emulated AWS
 * with its command line, and a checkout. The emulator's queues know no senders, so what the chart is told of queues is checked
 * and then replaced by those of the site beside; no kubelet is there, so bridge and drain are started from what the chart made
 * (chart-kubelet.ts). Used by the tests that follow the pages on deployment and on the first day.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse, stringify } from 'yaml';
import * as z from 'zod/mini';
import { startCloud } from '../../infra/local/cloud.ts';
import { built } from './built.ts';
import { type ChartInstallation, startChartInstallation } from './chart-installation.ts';
import { runNextJob } from './chart-kubelet.ts';
import { type CloudFront, startCloudFront } from './cloud-front.ts';
import { type Block, blocksOf } from './document-blocks.ts';
import { type Reader, readerOf } from './reader.ts';

/** The release and its namespace, as the pages name both. */
export const RELEASE = 'finalizer-bridge';

/** Somebody at work, and where. */
export interface FirstInstall extends Reader {
  readonly on: ChartInstallation;
  readonly front: CloudFront;
  /** A file of the checkout, by its name. */
  file(name: string): string;
  /** Holds what was written for the chart against a stage's stack, and puts the site's own queues in. */
  mindQueues(stage: string): Promise<void>;
  /** Runs an uninstallation, and the Job that it makes, which has to leave nothing. */
  uninstall(block: Block, run: (text: string) => Promise<unknown>): Promise<void>;
}

/** What `npm run bridge-values` writes. */
const toldSchema = z.object({
  queues: z.object({ region: z.string(), results: z.string() }),
  handlers: z.record(z.string(), z.object({ queue: z.string(), sender: z.string() })),
  deadLetters: z.object({ sender: z.string() }),
});

/**
 * Starts the servers and makes the checkout; nothing is installed yet.
 * @param name of the site beside, a short DNS label
 * @param account `own`: an emulated account of its own, for what has names that are the account's, such as roles; else that of
 *   all tests, in which the site's functions work
 */
export function startFirstInstall(name: string, account: 'own' | 'shared'): Promise<FirstInstall> {
  return built(async (stack) => {
    const on = await startChartInstallation(name);
    stack.defer(() => on.stop());
    const say = (line: string) => void process.stderr.write(`${line}\n`);
    const own = account === 'own' ? await startCloud({ say, folder: on.site.folder }) : undefined;
    stack.defer(() => own?.stop());
    const front = await startCloudFront((own ?? on.site.cloud()).endpoint);
    stack.defer(() => front.stop());
    const reader = await readerOf(on, front.env);
    stack.defer(() => reader.stop());
    const file = (path: string) => join(reader.shell.folder, path);
    return {
      ...{ ...reader, on, front, file },
      mindQueues: async (stage) => {
        const told = toldSchema.parse(parse(readFileSync(file('bridge.values.yaml'), 'utf8')));
        expect(told.queues.results).toContain(`finalizer-bridge-${stage}-results-${on.site.clusterUid}`);
        expect(Object.keys(told.handlers)).toEqual(['s3-bucket']);
        expect(told.handlers['s3-bucket']?.queue).toContain(`finalizer-bridge-${stage}-s3-bucket-requests`);
        expect([told.handlers['s3-bucket']?.sender, told.deadLetters.sender].join()).toMatch(/^AROA\w+,AROA\w+$/);
        const { kinds: _kinds, ...values } = await on.values();
        writeFileSync(file('bridge.values.yaml'), stringify({ ...values, cluster: { name: 'production' } }));
      },
      uninstall: async (block, run) => {
        const [{ code, said }] = await Promise.all([runNextJob(on.node, RELEASE), run(block.text)]);
        expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('clean: no rule is left') });
      },
      stop: () => stack.disposeAsync(),
    };
  });
}

/** A block of a page that is a file, such as JSON or YAML: the first that holds a text. */
export function fileIn(document: string, language: string, holds: string): string {
  const found = blocksOf(document).find((block) => block.language === language && block.text.includes(holds));
  if (found === undefined)
    throw new Error(`looking for a ${language} block with ${holds} in ${document}: there is none`);
  return `${found.text}\n`;
}
