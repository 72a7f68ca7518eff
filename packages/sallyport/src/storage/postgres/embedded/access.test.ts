import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded-postgres.ts';
import type { SocketConnection } from '../postgres-connection.ts';
import { openPostgres } from '../postgres-database.ts';
import { run } from '../postgres-databases.fixture.ts';
import { createDatabaseServer } from './database-server.fixture.ts';

let dataFolder: string;
beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'sallyport-access-'));
});
afterEach(() => rm(dataFolder, { recursive: true }));

const start = (): Promise<EmbeddedPostgres> => startEmbeddedPostgres({ dataFolder, log: silentLog });
const rulesFile = () => join(dataFolder, 'postgres', 'pg_hba.conf');
const passwordFile = () => join(dataFolder, 'postgres.password');

/** Expects that a connection is refused for a wrong role or password. */
async function expectClosed(connection: SocketConnection): Promise<void> {
  await expect(run(connection, 'select 1')).rejects.toThrow(/password|pg_hba\.conf/);
}

/** Query for objects in the schema with another owner, and for objects of the layer's role outside of the schema. */
const STRANGE_OWNERS = `
select relname as name from pg_class where relkind <> 'i' and relkind <> 't' and relkind <> 'c'
  and (relnamespace = 'sallyport'::regnamespace) <> (relowner = 'sallyport_layer'::regrole)
union all select proname from pg_proc
  where (pronamespace = 'sallyport'::regnamespace) <> (proowner = 'sallyport_layer'::regrole)
union all select nspname from pg_namespace
  where (nspname = 'sallyport') <> (nspowner = 'sallyport_layer'::regrole)`;

test('whoever reaches the socket needs the password that only the layer knows', async () => {
  await using server = await start();
  const { password: _password, ...open } = server.connection;
  await expectClosed(open);
  await expectClosed({ ...open, password: 'guessed' });
  for (const user of ['sallyport', 'postgres']) await expectClosed({ ...server.connection, user });
  await expectClosed({ ...server.connection, database: 'template1' });
  expect((await stat(passwordFile())).mode & 0o777).toBe(0o600);
  expect(await readFile(rulesFile(), 'utf8')).not.toContain(server.connection.password);
});

test('the layer owns its schemas and nothing else, and starts no program through the database', async () => {
  await using server = await start();
  await using _database = await openPostgres({ connection: server.connection, log: silentLog });
  expect(await run(server.connection, STRANGE_OWNERS)).toEqual([]);
  for (const statement of [
    "copy (select 1) to program 'true'",
    "copy sallyport.api_keys from '/etc/passwd'",
    "select pg_read_file('/etc/passwd')",
    'create table public.more ()',
    'create database more',
    'create role more superuser',
    'alter role sallyport_layer superuser',
    'set role sallyport',
    "alter system set archive_command = 'true'",
  ]) {
    await expect(run(server.connection, statement), statement).rejects.toMatchObject({ code: '42501' });
  }
});

test('a cluster of an older version, open to whoever reached its socket, is closed and keeps what it holds', async () => {
  const old = await createDatabaseServer(dataFolder);
  await old.start();
  await (await openPostgres({ connection: old.connection, log: silentLog })).close();
  await run(old.connection, "insert into sallyport.sink_positions (sink, position) values ('kept', 7)");
  await run(old.connection, "create type sallyport.kind as enum ('a'); create sequence sallyport.alone");
  await old.kill();
  await rename(join(dataFolder, 'cluster'), join(dataFolder, 'postgres'));

  await using server = await start();
  await expectClosed(old.connection);
  await using database = await openPostgres({ connection: server.connection, log: silentLog });
  await database.tryWrite();
  const kept = "select position::int from sallyport.sink_positions where sink = 'kept'";
  expect(await run(server.connection, kept)).toEqual([{ position: 7 }]);
  expect(await run(server.connection, STRANGE_OWNERS)).toEqual([]);
  await run(server.connection, "alter type sallyport.kind add value 'b'");
});

test.each<[string, () => Promise<void>]>([
  ['its password was lost', () => rm(passwordFile())],
  ['its password was overwritten', () => writeFile(passwordFile(), "'; drop schema sallyport cascade; --")],
  ['its rules were opened by hand', () => writeFile(rulesFile(), 'local all all trust\n')],
  ['its rules are gone', () => rm(rulesFile())],
  ['drafts were left behind', () => leaveDrafts()],
])('a cluster is closed again at the next start when %s', async (_what, happens) => {
  const first = await start();
  await run(
    first.connection,
    'create schema if not exists sallyport; create table sallyport.kept as select 42 as answer',
  );
  await first.close();
  await happens();
  await using second = await start();
  expect(await run(second.connection, 'select answer from sallyport.kept')).toEqual([{ answer: 42 }]);
  const { password: _password, ...open } = second.connection;
  await expectClosed(open);
  await expectClosed({ ...open, user: 'sallyport' });
  const files = [...(await readdir(dataFolder)), ...(await readdir(join(dataFolder, 'postgres')))];
  expect(files.filter((name) => name.endsWith('.new'))).toEqual([]);
});

/** Leaves draft files, as a start does that is killed between writing the password and writing the access rules. */
async function leaveDrafts(): Promise<void> {
  await rm(rulesFile());
  await writeFile(`${rulesFile()}.new`, 'local');
  await rm(passwordFile());
  await writeFile(`${passwordFile()}.new`, 'short');
}

test('a password that others could have read is replaced', async () => {
  const first = await start();
  await first.close();
  await chmod(passwordFile(), 0o644);
  await using second = await start();
  expect(second.connection.password).not.toBe(first.connection.password);
  await expectClosed({ ...second.connection, password: String(first.connection.password) });
  expect((await stat(passwordFile())).mode & 0o777).toBe(0o600);
});

test('a start that cannot keep the password says what to change', async () => {
  await mkdir(passwordFile());
  await expect(start()).rejects.toMatchObject({ code: 'E3812', failure: { details: { problem: 'folder-unusable' } } });
});
