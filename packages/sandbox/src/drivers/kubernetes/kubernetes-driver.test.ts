import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { contractCases } from '../../conformance/contract-cases.ts';
import type { Dialect } from '../../conformance/dialect.ts';
import { endsCases } from '../../conformance/ends-cases.ts';
import { filesCases } from '../../conformance/files-cases.ts';
import { checkWith } from '../../conformance/suite.ts';
import { hostDialect, type OpenedDriver } from '../../driver.conformance.ts';
import { createBubblewrapDriver } from '../bubblewrap/bubblewrap-driver.ts';
import { type FakeCluster, NAMESPACE, startFakeCluster, TOKEN } from './fake/fake-cluster.fixture.ts';
import { createKubernetesDriver } from './kubernetes-driver.ts';

const { runtime: _notInTheImage, ...imageDialect }: Dialect = hostDialect;

/**
 * Opens a driver on a fake cluster whose pods are namespaces made by bubblewrap, in which launcher and tools really
 * run.
 */
async function open(): Promise<OpenedDriver> {
  const cluster = await startFakeCluster();
  const folder = serviceAccount(cluster);
  const url = new URL(cluster.server);
  const driver = createKubernetesDriver(
    { pool: 'pool' },
    {
      source: {
        environment: { KUBERNETES_SERVICE_HOST: url.hostname, KUBERNETES_SERVICE_PORT: url.port },
        serviceAccountFolder: folder,
      },
    },
  );
  return {
    driver,
    async close() {
      driver.close();
      await cluster.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function serviceAccount({ ca }: FakeCluster): string {
  const folder = mkdtempSync(join(tmpdir(), 'service-account-'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'token'), `${TOKEN}\n`);
  writeFileSync(join(folder, 'ca.crt'), ca);
  writeFileSync(join(folder, 'namespace'), NAMESPACE);
  return folder;
}

const bubblewrap = await createBubblewrapDriver().probe();

/** Names of cases that need a control group, which is not visible inside a fake pod. */
const NOT_HERE = /what the tool used is measured/;
const runner = Object.assign(
  (name: string, run: () => Promise<void>) =>
    NOT_HERE.test(name) ? test.skip(`${name}: the stand-in shows no control group`, run) : test(name, run),
  { skip: test.skip },
);

describe.skipIf(!bubblewrap.works)(`kubernetes${bubblewrap.works ? '' : `, skipped: ${bubblewrap.problem}`}`, () => {
  const check = checkWith(runner, 'kubernetes', open);
  contractCases(check, imageDialect);
  filesCases(check, imageDialect);
  endsCases(check, imageDialect);
});
