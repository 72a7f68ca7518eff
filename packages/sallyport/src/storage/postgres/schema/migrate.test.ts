import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, type Migration, PostgresDialect, sql } from 'kysely';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import { type PostgresConnection, poolTarget } from '../postgres-connection.ts';
import { openPostgres } from '../postgres-database.ts';
import { embeddedDatabases, run, type TestDatabases } from '../postgres-databases.fixture.ts';
import { migrate } from './migrate.ts';
import type { Tables } from './tables.ts';

let databases: TestDatabases;

beforeAll(async () => {
  databases = await embeddedDatabases();
});

afterAll(() => databases.close());

const statement = (text: string): Migration => ({
  up: async (database) => void (await sql.raw(text).execute(database)),
});

/** Migrations of fictitious versions. */
const FIRST = {
  '0001-a': statement("create table sallyport.made (name text); insert into sallyport.made values ('a')"),
};
const SECOND = { ...FIRST, '0002-b': statement("insert into sallyport.made values ('b')") };
const BROKEN = { ...SECOND, '0003-c': statement("insert into sallyport.made values ('c'); select 1 / 0") };

async function migrated(connection: PostgresConnection, migrations: Readonly<Record<string, Migration>>) {
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: new Pool(poolTarget(connection)) }) });
  try {
    await migrate(database, migrations);
  } finally {
    await database.destroy();
  }
}

const made = (connection: PostgresConnection) => run(connection, 'select name from sallyport.made order by name');

test('REG-07.2 a database of an older version gets what it lacks, once, and keeps what it has', async () => {
  const connection = await databases.empty();
  await migrated(connection, FIRST);
  await migrated(connection, FIRST);
  expect(await made(connection)).toEqual([{ name: 'a' }]);
  await Promise.all([migrated(connection, SECOND), migrated(connection, SECOND)]);
  expect(await made(connection)).toEqual([{ name: 'a' }, { name: 'b' }]);
});

test('REG-07 a database of a newer version is refused, and the version is named', async () => {
  const connection = await databases.empty();
  await migrated(connection, SECOND);
  await expect(migrated(connection, FIRST)).rejects.toMatchObject({
    code: 'E3812',
    message: expect.stringContaining('newer version of the layer (0002-b)'),
  });
});

test('REG-07.2 a migration that fails leaves nothing of itself', async () => {
  const connection = await databases.empty();
  await migrated(connection, SECOND);
  await expect(migrated(connection, BROKEN)).rejects.toThrow('division by zero');
  expect(await made(connection)).toEqual([{ name: 'a' }, { name: 'b' }]);
});

test.each([
  ['many migrations', "('0001-first-tables', ''), ('0019-call-list', '')"],
  ['other tables', "('0001-tables-0123456789ab', '')"],
])(
  'REG-07 a database with %s from before the first release is refused, and the message says what to do',
  async (_, names) => {
    const connection = await databases.empty();
    await run(
      connection,
      `create schema sallyport; create table sallyport.kysely_migration (name text, timestamp text);
    insert into sallyport.kysely_migration values ${names}`,
    );
    await expect(openPostgres({ connection, log: silentLog })).rejects.toMatchObject({
      code: 'E3812',
      message: expect.stringMatching(/before the first release.*another data folder.*drop schema sallyport cascade/),
    });
  },
);

test('the table refuses a call that waits for what the layer does not know', async () => {
  const connection = await databases.fresh();
  const row = `insert into sallyport.tool_invocations
    (tenant_id, invocation_id, tool_id, agent_did, state, instance_id, is_final, accepted_at, record, waits_for)`;
  await run(connection, `${row} values ('t', '1', 'tool', 'a', 'DECLARED', 'i', false, now(), '{}', 'worker')`);
  const unknown = `${row} values ('t', '2', 'tool', 'a', 'DECLARED', 'i', false, now(), '{}', 'nobody')`;
  await expect(run(connection, unknown)).rejects.toThrow('tool_invocations_waits_for_check');
});

test('REG-07 a server older than PostgreSQL 15 is refused, and its version is named', async () => {
  const connection = await databases.fresh();
  if (!('socketFolder' in connection)) throw new Error('the test database is behind a socket');
  const folder = await mkdtemp(join(tmpdir(), 'older-'));
  const name = `.s.PGSQL.${connection.port}`;
  let version = '150000';
  const server = createServer((near) => {
    const far = connect(join(connection.socketFolder, name));
    near.pipe(far).on('data', (bytes: Buffer) => {
      near.write(bytes.toString('latin1').replace(/\b18\d{4}\b/, version), 'latin1');
    });
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  await once(server.listen(join(folder, name)), 'listening');
  const open = () => openPostgres({ connection: { ...connection, socketFolder: folder }, log: silentLog });
  await (await open()).close();
  version = '149999';
  await expect(open()).rejects.toMatchObject({
    code: 'E3812',
    message: expect.stringMatching(/PostgreSQL 18\.\S+; the layer needs version 15/),
  });
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});
