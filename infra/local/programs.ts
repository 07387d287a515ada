/*
 * All programs of others that the tests start or ask, fetched or built before the first test begins: within a test a build
 * would take the time that the test has, and that of those beside it. Called by infra/test.ts; each is found again in its cache
 * by whoever uses it.
 */
import { findActionlint } from './actionlint.ts';
import { findAwsCli } from './aws-cli.ts';
import { findKubeBinaries } from './binaries.ts';
import { findDockerfileLint } from './dockerfile.ts';
import { findGlua } from './glua.ts';
import { findHelm } from './helm.ts';
import { findKubeconform } from './kubeconform.ts';
import { findKubectl } from './kubectl.ts';
import { monitoringKinds } from './monitoring-kinds.ts';
import type { Say } from './progress.ts';
import { findPromql } from './promql.ts';
import { cloudEnvironment } from './python.ts';
import { findVersitygw } from './versitygw.ts';

/** One after the other, as each build takes all cores. @throws what the first one that cannot be had says. */
export async function findPrograms(say: Say): Promise<void> {
  await findKubeBinaries({ say, env: process.env });
  await cloudEnvironment({ say, env: process.env });
  await findAwsCli(say);
  await findKubectl(say);
  await findVersitygw({ say });
  await findHelm({ say });
  await findKubeconform(say);
  await findPromql(say);
  await findGlua(say);
  await findActionlint(say);
  await findDockerfileLint(say);
  await monitoringKinds();
}
