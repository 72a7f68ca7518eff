import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { silentLog } from '../../telemetry/log.ts';
import { createDatabaseServer } from './embedded/database-server.fixture.ts';
import type { PostgresConnection, SocketConnection } from './postgres-connection.ts';
import { openPostgres } from './postgres-database.ts';

/** A server for tests that gives each test its own database. */
export interface TestDatabases {
  /** A new database with the schema in it. */
  fresh(): Promise<PostgresConnection>;
  /** A new, empty database. */
  empty(): Promise<PostgresConnection>;
  close(): Promise<void>;
}

/** Starts an embedded server in a temporary folder; with `asUrl` its connections are given as URLs. */
export async function embeddedDatabases(asUrl = false): Promise<TestDatabases> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'sallyport-databases-'));
  const server = await createDatabaseServer(dataFolder);
  await server.start();
  // A role with the fewest rights that the tests need: the layer needs no others.
  await run(server.connection, "create role tester login createdb password 'its word'");
  const connection = { ...server.connection, user: 'tester', password: 'its word' };
  const databases = await databasesOf(connection, (database) => {
    const own = { ...connection, database };
    return asUrl ? { url: urlOf(own) } : own;
  });
  return {
    ...databases,
    async close() {
      await databases.close();
      await server.stop();
      await rm(dataFolder, { recursive: true });
    },
  };
}

/** Databases on the server at a URL, dropped at the end. The user of the URL must be allowed to create databases. */
export function databasesAt(url: string): Promise<TestDatabases> {
  return databasesOf({ url }, (database) => {
    const own = new URL(url);
    own.pathname = `/${database}`;
    return { url: own.href };
  });
}

/** The URL of a database that is reached through a socket. */
export function urlOf({ socketFolder, port, user, password = '', database }: SocketConnection): string {
  const query = new URLSearchParams({ host: socketFolder, port: String(port), user, password });
  return `postgresql:///${database}?${query}`;
}

async function databasesOf(
  server: PostgresConnection,
  connectionTo: (database: string) => PostgresConnection,
): Promise<TestDatabases> {
  const names: string[] = [];
  const create = async (template: string): Promise<string> => {
    const name = `sallyport_test_${process.pid}_${Math.random().toString(36).slice(2)}`;
    names.push(name);
    await run(server, `create database ${name} template ${template}`);
    return name;
  };
  // A migrated database, of which every fresh database is a copy.
  const template = await create('template0');
  await (await openPostgres({ connection: connectionTo(template), log: silentLog })).close();
  return {
    fresh: async () => connectionTo(await create(template)),
    empty: async () => connectionTo(await create('template0')),
    async close() {
      if ('url' in server) for (const name of names) await run(server, `drop database if exists ${name} with (force)`);
    },
  };
}

/** Empties every table of a database in one transaction: much faster than a fresh database for each test. */
export async function empty(connection: PostgresConnection): Promise<void> {
  const appendOnly = ['audit_events', 'audit_checkpoints'];
  const others = [
    'tool_versions',
    'tool_invocations',
    'idempotency_keys',
    'upstreams',
    'upstream_tools',
    'upstream_authorizations',
    'sink_positions',
    'embedding_vectors',
    'visibility_rules',
    'revocations',
    'api_keys',
    'proof_ids',
    'quota_sessions',
    'rate_counts',
    'slot_holders',
    'skill_contents',
    'undo_steps',
    'tool_state',
    'checkpoint_lines',
    'overflows',
    'session_tools',
    'documents',
    'document_versions',
    'checkpoints',
    'document_pins',
    'context_tasks',
    'threads',
    'state_objects',
    'daily_work',
    'seen_outputs',
    'outcome_settlements',
    'approval_votes',
    'approval_closings',
    'approval_notices',
    'approval_delegations',
    'approval_rules',
    'approval_links',
    'compensations',
    'call_leases',
    'instances',
    'unrecorded_events',
  ];
  const triggers = (what: 'disable' | 'enable') =>
    appendOnly.map((table) => `alter table sallyport.${table} ${what} trigger append_only`);
  const deletes = [...appendOnly, ...others].map((table) => `delete from sallyport.${table}`);
  await run(connection, [...triggers('disable'), ...deletes, ...triggers('enable')].join('; '));
}

/** Runs statements in one transaction, on a new connection. */
export async function run(connection: PostgresConnection, statements: string): Promise<readonly unknown[]> {
  const client = await clientOf(connection);
  try {
    return (await client.query(statements)).rows;
  } finally {
    await client.end();
  }
}

/** Opens a new connection. */
export async function clientOf(connection: PostgresConnection): Promise<Client> {
  const client = new Client(
    'url' in connection ? { connectionString: connection.url } : { ...connection, host: connection.socketFolder },
  );
  await client.connect();
  return client;
}
