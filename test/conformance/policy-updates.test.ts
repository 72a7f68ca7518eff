import { afterAll, beforeAll, test } from 'vitest';
import { policyUpdatesConformance } from '../../packages/sallyport/src/permission/policies/policy-updates.conformance.ts';
import { memoryPolicyUpdates } from '../../packages/sallyport/src/storage/memory/memory-policy-updates.ts';
import { policyUpdatesAt } from '../../packages/sallyport/src/storage/postgres/notifications/updates.fixture.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';

let databases: TestDatabases;
beforeAll(async () => {
  databases = await embeddedDatabases();
});
afterAll(() => databases.close());

policyUpdatesConformance(test, 'memory', async () => ({ store: memoryPolicyUpdates(), close: async () => undefined }));
policyUpdatesConformance(test, 'PostgreSQL, by notifications alone', async () =>
  policyUpdatesAt(await databases.fresh(), { pollMs: 3_600_000 }),
);
policyUpdatesConformance(test, 'PostgreSQL, LISTEN forbidden', async () =>
  policyUpdatesAt(await databases.fresh(), {
    connect: () => {
      throw new Error('forbidden');
    },
  }),
);
