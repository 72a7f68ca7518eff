import { afterAll, beforeAll, describe, test } from 'vitest';
import { ledgerStoreConformance } from '../../src/audit/ledger-store.conformance.ts';
import { rateLimiterConformance } from '../../src/external/rate-limiter.conformance.ts';
import { apiKeyStoreConformance } from '../../src/identity/conformance/api-key-store.conformance.ts';
import { revocationStoreConformance } from '../../src/identity/conformance/revocation-store.conformance.ts';
import { quarantineStoreConformance } from '../../src/mcp-servers/quarantine-store.conformance.ts';
import { upstreamStoreConformance } from '../../src/mcp-servers/upstream-store.conformance.ts';
import { quotaStoreConformance } from '../../src/permission/gates/quota-store.conformance.ts';
import { idempotencyStoreConformance } from '../../src/pipeline/idempotency-store.conformance.ts';
import { vectorIndexConformance } from '../../src/registry/search/conformance/vector-index.conformance.ts';
import { vectorStoreConformance } from '../../src/registry/search/conformance/vector-store.conformance.ts';
import { toolStoreConformance } from '../../src/registry/tool-store.conformance.ts';
import { memoryApiKeyStore } from '../../src/storage/memory/memory-api-key-store.ts';
import { memoryIdempotencyStore } from '../../src/storage/memory/memory-idempotency-store.ts';
import { memoryLedgerStore } from '../../src/storage/memory/memory-ledger-store.ts';
import { memoryQuarantineStore } from '../../src/storage/memory/memory-quarantine-store.ts';
import { memoryQuotaStore } from '../../src/storage/memory/memory-quota-store.ts';
import { memoryRateLimiter } from '../../src/storage/memory/memory-rate-limiter.ts';
import { memoryRevocationStore } from '../../src/storage/memory/memory-revocation-store.ts';
import { memoryToolStore } from '../../src/storage/memory/memory-tool-store.ts';
import { memoryUpstreamStore } from '../../src/storage/memory/memory-upstream-store.ts';
import { memoryVectorIndex } from '../../src/storage/memory/memory-vector-index.ts';
import { memoryVectorStore } from '../../src/storage/memory/memory-vector-store.ts';
import { memoryVisibilityStore } from '../../src/storage/memory/memory-visibility-store.ts';
import type { PostgresConnection } from '../../src/storage/postgres/postgres-connection.ts';
import { openPostgres, type PostgresDatabase } from '../../src/storage/postgres/postgres-database.ts';
import {
  databasesAt,
  embeddedDatabases,
  empty,
  type TestDatabases,
} from '../../src/storage/postgres/postgres-databases.fixture.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import { visibilityStoreConformance } from '../../src/visibility/visibility-store.conformance.ts';

const close = async (): Promise<void> => undefined;

describe('memory', () => {
  toolStoreConformance(test, 'memory', async () => ({ store: memoryToolStore(), close }));
  ledgerStoreConformance(test, 'memory', async () => ({ store: memoryLedgerStore(), close }));
  idempotencyStoreConformance(test, 'memory', async () => ({ store: memoryIdempotencyStore(), close }));
  quotaStoreConformance(test, 'memory', async () => ({ store: memoryQuotaStore(), close }));
  upstreamStoreConformance(test, 'memory', async () => ({ store: memoryUpstreamStore(), close }));
  quarantineStoreConformance(test, 'memory', async () => ({ store: memoryQuarantineStore(), close }));
  visibilityStoreConformance(test, 'memory', async () => ({ store: memoryVisibilityStore(), close }));
  revocationStoreConformance(test, 'memory', async () => ({ store: memoryRevocationStore(), close }));
  apiKeyStoreConformance(test, 'memory', async () => ({ store: memoryApiKeyStore(), close }));
  vectorIndexConformance(test, 'memory', async () => ({ index: memoryVectorIndex(), close }));
  vectorStoreConformance(test, 'memory', async () => ({ store: memoryVectorStore(), close }));
  rateLimiterConformance(test, 'memory', async (clock) => ({ limiter: memoryRateLimiter({ clock }), close }));
});

describe('embedded PostgreSQL', () => postgresConformance('embedded PostgreSQL', () => embeddedDatabases()));

const serverUrl = process.env['SALLYPORT_TEST_DATABASE_URL'];
describe('PostgreSQL by URL', () =>
  postgresConformance('PostgreSQL by URL', () =>
    serverUrl === undefined ? embeddedDatabases(true) : databasesAt(serverUrl),
  ));

function postgresConformance(adapter: string, start: () => Promise<TestDatabases>): void {
  let databases: TestDatabases;
  let connection: PostgresConnection;
  let database: PostgresDatabase;
  beforeAll(async () => {
    databases = await start();
    connection = await databases.fresh();
    database = await openPostgres({ connection, log: silentLog });
  });
  afterAll(async () => {
    await database.close();
    await databases.close();
  });

  const open =
    <K extends keyof PostgresDatabase>(store: K) =>
    async () => {
      await empty(connection);
      return { store: database[store], close };
    };
  toolStoreConformance(test, adapter, open('toolStore'));
  ledgerStoreConformance(test, adapter, open('ledgerStore'));
  idempotencyStoreConformance(test, adapter, open('idempotencyStore'));
  quotaStoreConformance(test, adapter, open('quotaStore'));
  upstreamStoreConformance(test, adapter, open('upstreamStore'));
  quarantineStoreConformance(test, adapter, open('quarantineStore'));
  visibilityStoreConformance(test, adapter, open('visibilityStore'));
  revocationStoreConformance(test, adapter, open('revocationStore'));
  apiKeyStoreConformance(test, adapter, open('apiKeyStore'));
  vectorStoreConformance(test, adapter, open('vectorStore'));
}
