import { systemClock } from '@sallyport/std/clock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLedger } from '../../packages/sallyport/src/audit/ledger.ts';
import { manifest, pipeline } from '../../packages/sallyport/src/pipeline/pipeline.fixture.ts';
import { playKeys } from '../../packages/sallyport/src/pipeline/stages/keyed/key-model.fixture.ts';
import { playNames } from '../../packages/sallyport/src/pipeline/stages/keyed/name-model.fixture.ts';
import type { PostgresConnection } from '../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import { openPostgres } from '../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';

let databases: TestDatabases;
let connection: PostgresConnection;

beforeAll(async () => {
  databases = await embeddedDatabases();
  connection = await databases.fresh();
});
afterAll(() => databases.close());

test('PIPE-09.1 PIPE-09.2 PIPE-09.3 over one PostgreSQL each key has one answer, on two instances and across restarts', () =>
  playKeys(
    async () => ({
      async open(instanceId) {
        const database = await openPostgres({ connection, poolMax: 4, log: silentLog });
        const { ledgerStore: records, idempotencyStore: idempotency } = database;
        const ledger = await openLedger({ store: records, chainId: instanceId, log: silentLog });
        return {
          parts: { records, idempotency, ledger },
          async close() {
            await ledger.close();
            await database.close();
          },
        };
      },
    }),
    8,
  ));

test('PIPE-09 ORC-06 over one PostgreSQL each id and each key has one call, on two instances that are killed at times', async () => {
  const database = await openPostgres({ connection: await databases.fresh(), poolMax: 4, log: silentLog });
  const { ledgerStore: records, idempotencyStore: idempotency } = database;
  await playNames(async () => ({ records, idempotency }), 8);
  await database.close();
});

test('PIPE-09 PIPE-11.7 a key lasts by the clock of the database, whatever the clock of an instance says', async () => {
  const database = await openPostgres({ connection: await databases.fresh(), poolMax: 4, log: silentLog });
  const { ledgerStore: records, idempotencyStore: idempotency } = database;
  let runs = 0;
  const instance = async (instanceId: string, byMs: number) => {
    const ledger = await openLedger({ store: records, chainId: instanceId, log: silentLog });
    const clock = { ...systemClock, now: () => Date.now() + byMs };
    // In this test keys are kept for 60 s.
    const made = await pipeline({ ledger, store: records, records, idempotency, instanceId, clock });
    await made.add(manifest('pay', { side_effect_policy: 'irreversible' }), () => ({ run: ++runs }));
    return { ...made, ledger };
  };
  const instances = [await instance('behind', -300_000), await instance('right', 0), await instance('ahead', 300_000)];
  for (const [at, first] of instances.entries()) {
    const request = { tool_id: 'pay', parameters: { n: at }, execution_options: { idempotency_key: `key-${at}` } };
    await first.call(request);
    for (const other of instances) expect((await other.call(request)).metadata?.cached).toBe(true);
  }
  expect(runs).toBe(3);
  for (const { ledger } of instances) await ledger.close();
  await database.close();
});
