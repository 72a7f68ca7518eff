import { setTimeout as wait } from 'node:timers/promises';
import { MiB } from '@sallyport/std/bytes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLedger } from '../../packages/sallyport/src/audit/ledger.ts';
import { manifest, pipeline } from '../../packages/sallyport/src/pipeline/pipeline.fixture.ts';
import type { PostgresConnection } from '../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import {
  openPostgres,
  type PostgresDatabase,
} from '../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';

let databases: TestDatabases;
let connection: PostgresConnection;
const opened: PostgresDatabase[] = [];

beforeAll(async () => {
  databases = await embeddedDatabases();
  connection = await databases.fresh();
});
afterAll(async () => {
  for (const database of opened) await database.close();
  await databases.close();
});

/** An instance on the shared database; its tool adds each run to `ran`. */
async function instance(instanceId: string, ran: string[]) {
  const database = await openPostgres({ connection, poolMax: 4, log: silentLog });
  opened.push(database);
  const ledger = await openLedger({ store: database.ledgerStore, chainId: instanceId, log: silentLog });
  const { ledgerStore: store, idempotencyStore: idempotency } = database;
  const made = await pipeline({ store, idempotency, ledger, instanceId });
  await made.add(manifest('pay', { side_effect_policy: 'irreversible' }), async ({ n }) => {
    ran.push(`${instanceId} ${n}`);
    await wait(150);
    return { by: instanceId };
  });
  const pay = (n: number, options: object) =>
    made.call({ tool_id: 'pay', parameters: { n }, execution_options: options });
  return { ...made, pay, close: () => database.close() };
}

describe('VIS-04 over PostgreSQL', () => {
  test('VIS-04.4 VIS-04.5 duplicates on two instances at once run once, and all get the first answer', async () => {
    const ran: string[] = [];
    const [one, two] = [await instance('a', ran), await instance('b', ran)];
    const turn = { turn_group_id: 'turn-1' };
    const records = await Promise.all([one, two, one, two].map(({ pay }) => pay(1, turn)));
    expect(ran).toHaveLength(1);
    expect(new Set(records.map(({ result }) => JSON.stringify(result))).size).toBe(1);
    expect(records.filter(({ metadata }) => metadata?.cached === true)).toHaveLength(3);
    const chosen = { idempotency_key: 'k'.repeat(MiB) };
    const [first, conflict] = [await one.pay(5, chosen), await two.pay(6, chosen)];
    expect([first.state, conflict.failure?.code]).toEqual(['COMPLETED', 'E3802']);
  });

  test('a restarted instance answers with what it did before, and runs what it never began', async () => {
    const ran: string[] = [];
    const turn = { turn_group_id: 'turn-2' };
    const before = await instance('c', ran);
    const first = await before.pay(1, turn);
    const { idempotency } = before.parts;
    const probe = { tenantId: 'acme', requestHash: '', nonce: 'p', invocationId: 'p' };
    const key = (n: string) => `\ntool_idem:11:did:agent:a${n}`;
    const held = await idempotency.claim({ ...probe, key: key(first.idempotencyKey ?? '') }, 60_000);
    await before.close();

    const after = await instance('c', ran);
    expect(await after.pay(1, turn)).toMatchObject({ invocationId: first.invocationId, metadata: { cached: true } });
    expect(ran).toHaveLength(1);
    // As if the instance had been killed after it claimed the key and before it wrote the row.
    const killed = { ...held, nonce: 'killed', invocationId: 'killed', instanceId: 'c' };
    await after.parts.idempotency.takeOver(killed, held.nonce, 60_000);
    expect(await after.pay(1, turn)).toMatchObject({ state: 'COMPLETED', metadata: { cached: false } });
    expect(ran).toHaveLength(2);
  });
});
