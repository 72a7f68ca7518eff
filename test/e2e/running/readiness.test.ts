import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { urlOf } from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { type OpenLayer, openLayer } from '../layer.fixture.ts';

let open: OpenLayer;
let database: Client;
beforeAll(async () => {
  open = await openLayer();
  const connection = open.layer.embeddedDatabase;
  if (connection === undefined) throw new Error('the layer does not say where its database is');
  database = new Client({ connectionString: urlOf(connection) });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await open[Symbol.asyncDispose]();
});

async function ready(): Promise<object> {
  const response = await fetch(`${open.server.url}/readyz`);
  return (await response.json()) as object;
}

/** Ends the layer's connections, so that the layer opens new ones, to which changed settings of the role apply. */
const CONNECT_ANEW =
  'select pg_terminate_backend(pid) from pg_stat_activity where usename = current_user and pid <> pg_backend_pid()';

const polled = () => expect.poll(ready);
const READY = { status: 'ready', ready: true };

test('OPS-03.1 OPS-03.2 where nothing can be written the layer is not ready, and says why', async () => {
  await polled().toEqual(READY);
  await database.query('alter role current_user set default_transaction_read_only = on');
  await database.query(CONNECT_ANEW);
  await polled().toMatchObject({ ready: false, status: 'degraded', reason: expect.stringContaining('read-only') });
  const health = await fetch(`${open.server.url}/healthz`);
  expect(health.status).toBe(503);
  expect(await health.json()).toMatchObject({ parts: { database: { ok: false } } });
  await database.query('set default_transaction_read_only = off');
  await database.query('alter role current_user reset default_transaction_read_only');
  await database.query(CONNECT_ANEW);
  await polled().toEqual(READY);
});

test('OPS-03.2 a write that hangs makes the layer not ready within a bound', async () => {
  await polled().toEqual(READY);
  await database.query('begin');
  await database.query('lock table sallyport.sink_positions in exclusive mode');
  await polled().toMatchObject({ ready: false, reason: expect.stringContaining('longer than 2000 ms') });
  await database.query('rollback');
  await polled().toEqual(READY);
});
