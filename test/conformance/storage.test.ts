import { systemClock } from '@sallyport/std/clock';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { ledgerStoreConformance } from '../../packages/sallyport/src/audit/ledger-store.conformance.ts';
import { checkpointArchiveConformance } from '../../packages/sallyport/src/bridges/conformance/checkpoint-archive.conformance.ts';
import { checkpointStoreConformance } from '../../packages/sallyport/src/bridges/conformance/checkpoint-store.conformance.ts';
import { objectStoreConformance } from '../../packages/sallyport/src/bridges/conformance/object-store.conformance.ts';
import { threadStoreConformance } from '../../packages/sallyport/src/bridges/conformance/thread-store.conformance.ts';
import {
  documentCacheConformance,
  documentPinStoreConformance,
} from '../../packages/sallyport/src/bridges/documents/document-stores.conformance.ts';
import { parametersSeal } from '../../packages/sallyport/src/domain/invocation/tasks/sealed-parameters.ts';
import { circuitStoreConformance } from '../../packages/sallyport/src/external/circuit-store.conformance.ts';
import { apiKeyStoreConformance } from '../../packages/sallyport/src/identity/conformance/api-key-store.conformance.ts';
import { proofIdStoreConformance } from '../../packages/sallyport/src/identity/conformance/proof-id-store.conformance.ts';
import { revocationStoreConformance } from '../../packages/sallyport/src/identity/conformance/revocation-store.conformance.ts';
import { authorizationStoreConformance } from '../../packages/sallyport/src/mcp-servers/conformance/authorization-store.conformance.ts';
import { quarantineStoreConformance } from '../../packages/sallyport/src/mcp-servers/conformance/quarantine-store.conformance.ts';
import { upstreamStoreConformance } from '../../packages/sallyport/src/mcp-servers/conformance/upstream-store.conformance.ts';
import { sealedUpstreamStore } from '../../packages/sallyport/src/mcp-servers/connection/secrets/sealed-upstream-store.ts';
import { sealedAuthorizationStore } from '../../packages/sallyport/src/mcp-servers/http/authorization/sealed-authorization-store.ts';
import { overflowStoreConformance } from '../../packages/sallyport/src/model-facing/results/overflow-store.conformance.ts';
import { approvalStoreConformance } from '../../packages/sallyport/src/orchestration/conformance/approval-store.conformance.ts';
import { callLeaseStoreConformance } from '../../packages/sallyport/src/orchestration/conformance/call-lease-store.conformance.ts';
import { dailyLeaseConformance } from '../../packages/sallyport/src/orchestration/conformance/daily-lease.conformance.ts';
import { compensationStoreConformance } from '../../packages/sallyport/src/orchestration/side-effects/compensation-store.conformance.ts';
import { quotaStoreConformance } from '../../packages/sallyport/src/permission/gates/quota-store.conformance.ts';
import { outputStoreConformance } from '../../packages/sallyport/src/pipeline/stages/determinism/output-store.conformance.ts';
import { idempotencyStoreConformance } from '../../packages/sallyport/src/pipeline/stages/keyed/idempotency-store.conformance.ts';
import { outcomeStoreConformance } from '../../packages/sallyport/src/pipeline/undo/outcome-store.conformance.ts';
import { stateStoreConformance } from '../../packages/sallyport/src/pipeline/undo/state/state-store.conformance.ts';
import { undoJournalConformance } from '../../packages/sallyport/src/pipeline/undo/undo-journal.conformance.ts';
import { contextStoreConformance } from '../../packages/sallyport/src/reference-servers/context-store.conformance.ts';
import { documentStoreConformance } from '../../packages/sallyport/src/reference-servers/document-store.conformance.ts';
import {
  skillContentsConformance,
  TESTED_BOUNDS,
} from '../../packages/sallyport/src/registry/conformance/skill-contents.conformance.ts';
import { toolStoreConformance } from '../../packages/sallyport/src/registry/conformance/tool-store.conformance.ts';
import { vectorIndexConformance } from '../../packages/sallyport/src/registry/search/conformance/vector-index.conformance.ts';
import { vectorStoreConformance } from '../../packages/sallyport/src/registry/search/conformance/vector-store.conformance.ts';
import { memoryAuthorizationStore } from '../../packages/sallyport/src/storage/memory/memory-authorization-store.ts';
import { memoryCircuitStore } from '../../packages/sallyport/src/storage/memory/memory-circuit-store.ts';
import { memoryDocumentCache } from '../../packages/sallyport/src/storage/memory/memory-document-cache.ts';
import { memoryVectorIndex } from '../../packages/sallyport/src/storage/memory/memory-vector-index.ts';
import type { PostgresConnection } from '../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import {
  openPostgres,
  type PostgresDatabase,
} from '../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import {
  databasesAt,
  embeddedDatabases,
  empty,
  run,
  type TestDatabases,
} from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { withSealedArguments } from '../../packages/sallyport/src/storage/sealed/sealed-arguments.ts';
import { withSealedEdits } from '../../packages/sallyport/src/storage/sealed/sealed-edits.ts';
import { withSealedLeases } from '../../packages/sallyport/src/storage/sealed/sealed-leases.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';
import { sessionToolStoreConformance } from '../../packages/sallyport/src/visibility/session-tools.conformance.ts';
import { visibilityStoreConformance } from '../../packages/sallyport/src/visibility/visibility-store.conformance.ts';
import { memoryApprovalStore } from '../../packages/sallyport/test/stores/approvals/memory-approval-store.ts';
import { memoryCallLeaseStore } from '../../packages/sallyport/test/stores/calls/memory-call-lease-store.ts';
import { memoryIdempotencyStore } from '../../packages/sallyport/test/stores/calls/memory-idempotency-store.ts';
import { memoryQuotaStore } from '../../packages/sallyport/test/stores/calls/memory-quota-store.ts';
import { memoryApiKeyStore } from '../../packages/sallyport/test/stores/memory-api-key-store.ts';
import { memoryLedgerStore } from '../../packages/sallyport/test/stores/memory-ledger-store.ts';
import { memoryProofIds } from '../../packages/sallyport/test/stores/memory-proof-ids.ts';
import { memoryQuarantineStore } from '../../packages/sallyport/test/stores/memory-quarantine-store.ts';
import { memoryRevocationStore } from '../../packages/sallyport/test/stores/memory-revocation-store.ts';
import { memoryToolStore } from '../../packages/sallyport/test/stores/memory-tool-store.ts';
import { memoryUpstreamStore } from '../../packages/sallyport/test/stores/memory-upstream-store.ts';
import { memoryVectorStore } from '../../packages/sallyport/test/stores/memory-vector-store.ts';
import { memoryVisibilityStore } from '../../packages/sallyport/test/stores/memory-visibility-store.ts';
import { memoryCheckpointStore } from '../../packages/sallyport/test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryCompensationStore } from '../../packages/sallyport/test/stores/outcomes/memory-compensation-store.ts';
import { memoryContextStore } from '../../packages/sallyport/test/stores/outcomes/memory-context-store.ts';
import { memoryDailyLease } from '../../packages/sallyport/test/stores/outcomes/memory-daily-lease.ts';
import { memoryDocumentPins } from '../../packages/sallyport/test/stores/outcomes/memory-document-pins.ts';
import { memoryObjectStore } from '../../packages/sallyport/test/stores/outcomes/memory-object-store.ts';
import { memoryOutcomeStore } from '../../packages/sallyport/test/stores/outcomes/memory-outcome-store.ts';
import { memoryOutputStore } from '../../packages/sallyport/test/stores/outcomes/memory-output-store.ts';
import { memoryOverflowStore } from '../../packages/sallyport/test/stores/outcomes/memory-overflow-store.ts';
import { memorySessionToolStore } from '../../packages/sallyport/test/stores/outcomes/memory-session-tool-store.ts';
import { memoryStateStore } from '../../packages/sallyport/test/stores/outcomes/memory-state-store.ts';
import { memoryThreadStore } from '../../packages/sallyport/test/stores/outcomes/memory-thread-store.ts';
import { memoryUndoJournal } from '../../packages/sallyport/test/stores/outcomes/memory-undo-journal.ts';
import { memorySkillContents } from '../../packages/sallyport/test/stores/tools/memory-skill-contents.ts';

const close = async (): Promise<void> => undefined;
const seal = parametersSeal(new Uint8Array(32));

describe('memory', () => {
  toolStoreConformance(test, 'memory', async () => ({ store: memoryToolStore(), close }));
  ledgerStoreConformance(test, 'memory', async () => ({ store: memoryLedgerStore(), close }));
  ledgerStoreConformance(test, 'encrypted arguments', async () => {
    return { store: withSealedArguments(memoryLedgerStore(), seal, silentLog), close };
  });
  idempotencyStoreConformance(test, 'memory', async () => ({ store: memoryIdempotencyStore(), close }));
  compensationStoreConformance(test, 'memory', async () => ({ store: memoryCompensationStore(), close }));
  quotaStoreConformance(test, 'memory', async () => ({ store: memoryQuotaStore(), close }));
  callLeaseStoreConformance(test, 'memory', async () => {
    const ledger = memoryLedgerStore();
    return { leases: memoryCallLeaseStore(ledger), ledger, close };
  });
  callLeaseStoreConformance(test, 'encrypted questions', async () => {
    const ledger = memoryLedgerStore();
    return { leases: withSealedLeases(memoryCallLeaseStore(ledger), seal), ledger, close };
  });
  undoJournalConformance(test, 'memory', async () => ({ store: memoryUndoJournal(), close }));
  checkpointStoreConformance(test, 'memory', async () => ({ store: memoryCheckpointStore(), close }));
  threadStoreConformance(test, 'memory', async () => ({ store: memoryThreadStore(), close }));
  contextStoreConformance(test, 'memory', async () => ({ store: memoryContextStore(), close }));
  documentPinStoreConformance(test, 'memory', async () => ({ store: memoryDocumentPins(), close }));
  documentCacheConformance(test, 'memory', async () => ({ store: memoryDocumentCache({ bytesMax: 1e6 }), close }));
  checkpointArchiveConformance(test, 'memory', async () => ({ store: memoryCheckpointStore(), close }));
  dailyLeaseConformance(test, 'memory', async () => ({ store: memoryDailyLease(), close }));
  objectStoreConformance(test, 'memory', async () => ({ store: memoryObjectStore(), close }));
  stateStoreConformance(test, 'memory', async () => ({ store: memoryStateStore(), close }));
  outputStoreConformance(test, 'memory', async () => ({ store: memoryOutputStore(), close }));
  overflowStoreConformance(test, 'memory', async () => ({ store: memoryOverflowStore(), close }));
  sessionToolStoreConformance(test, 'memory', async () => ({ store: memorySessionToolStore(), close }));
  outcomeStoreConformance(test, 'memory', async () => {
    const ledger = memoryLedgerStore();
    return { outcomes: memoryOutcomeStore(ledger), ledger, close };
  });
  skillContentsConformance(test, 'memory', async () => ({ store: memorySkillContents(TESTED_BOUNDS), close }));
  upstreamStoreConformance(test, 'memory', async () => ({ store: memoryUpstreamStore(), close }));
  upstreamStoreConformance(test, 'encrypted', async () => {
    return { store: sealedUpstreamStore(memoryUpstreamStore(), new Uint8Array(32), silentLog), close };
  });
  const authorizations = () => memoryAuthorizationStore({ clock: systemClock });
  authorizationStoreConformance(test, 'memory', async () => ({ store: authorizations(), close }));
  authorizationStoreConformance(test, 'encrypted', async () => {
    return { store: sealedAuthorizationStore(authorizations(), new Uint8Array(32), silentLog), close };
  });
  quarantineStoreConformance(test, 'memory', async () => ({ store: memoryQuarantineStore(), close }));
  visibilityStoreConformance(test, 'memory', async () => ({ store: memoryVisibilityStore(), close }));
  revocationStoreConformance(test, 'memory', async () => ({ store: memoryRevocationStore(), close }));
  proofIdStoreConformance(test, 'memory', async () => ({ store: memoryProofIds(), close }));
  approvalStoreConformance(test, 'memory', async () => ({ store: memoryApprovalStore(), close }));
  approvalStoreConformance(test, 'encrypted edits', async () => {
    return { store: withSealedEdits(memoryApprovalStore(), seal, silentLog), close };
  });
  apiKeyStoreConformance(test, 'memory', async () => ({ store: memoryApiKeyStore(), close }));
  vectorIndexConformance(test, 'memory', async () => ({ index: memoryVectorIndex(), close }));
  vectorStoreConformance(test, 'memory', async () => ({ store: memoryVectorStore(), close }));
  circuitStoreConformance(test, 'memory', async (clock) => ({ store: memoryCircuitStore({ clock }), close }));
});

describe('embedded PostgreSQL', () => postgresConformance('embedded PostgreSQL', () => embeddedDatabases()));

const serverUrl = process.env['SALLYPORT_TEST_DATABASE_URL'];
describe('PostgreSQL by URL', () =>
  postgresConformance(
    'PostgreSQL by URL',
    () => (serverUrl === undefined ? embeddedDatabases(true) : databasesAt(serverUrl)),
    (connection) => run(connection, OTHER_PLANS),
  ));

/** Plans that PostgreSQL chooses for tables that it knows to be small. */
const OTHER_PLANS = ['hashjoin', 'mergejoin', 'hashagg', 'material', 'sort', 'indexscan', 'bitmapscan']
  .map((each) => `do $$ begin execute format('alter database %I set enable_${each} = off', current_database()); end $$`)
  .join('; ');

function postgresConformance(
  adapter: string,
  start: () => Promise<TestDatabases>,
  prepare?: (connection: PostgresConnection) => Promise<unknown>,
): void {
  let databases: TestDatabases;
  let connection: PostgresConnection;
  let database: PostgresDatabase;
  beforeAll(async () => {
    databases = await start();
    connection = await databases.fresh();
    await prepare?.(connection);
    database = await openPostgres({ connection, skillContentBounds: TESTED_BOUNDS, log: silentLog });
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
  compensationStoreConformance(test, adapter, open('compensationStore'));
  quotaStoreConformance(test, adapter, open('quotaStore'));
  callLeaseStoreConformance(test, adapter, async () => {
    await empty(connection);
    return { leases: database.callLeaseStore, ledger: database.ledgerStore, close };
  });
  undoJournalConformance(test, adapter, open('undoJournal'));
  checkpointStoreConformance(test, adapter, open('checkpointStore'));
  threadStoreConformance(test, adapter, open('threadStore'));
  contextStoreConformance(test, adapter, open('contextStore'));
  documentPinStoreConformance(test, adapter, open('documentPins'));
  checkpointArchiveConformance(test, adapter, open('checkpointStore'));
  dailyLeaseConformance(test, adapter, open('dailyLease'));
  stateStoreConformance(test, adapter, open('stateStore'));
  documentStoreConformance(test, adapter, open('documentStore'));
  outputStoreConformance(test, adapter, open('outputStore'));
  overflowStoreConformance(test, adapter, open('overflowStore'));
  sessionToolStoreConformance(test, adapter, open('sessionTools'));
  outcomeStoreConformance(test, adapter, async () => {
    await empty(connection);
    return { outcomes: database.outcomeStore, ledger: database.ledgerStore, close };
  });
  skillContentsConformance(test, adapter, open('skillContents'));
  upstreamStoreConformance(test, adapter, open('upstreamStore'));
  authorizationStoreConformance(test, adapter, open('authorizationStore'));
  quarantineStoreConformance(test, adapter, open('quarantineStore'));
  visibilityStoreConformance(test, adapter, open('visibilityStore'));
  revocationStoreConformance(test, adapter, open('revocationStore'));
  proofIdStoreConformance(test, adapter, open('proofIds'));
  approvalStoreConformance(test, adapter, open('approvalStore'));
  apiKeyStoreConformance(test, adapter, open('apiKeyStore'));
  vectorStoreConformance(test, adapter, open('vectorStore'));
}
