import { type Clock, systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Client, Pool } from 'pg';
import type { ClaimedKeys, LedgerStore, UnrecordedEvents } from '../../audit/ledger-store.port.ts';
import type { CheckpointArchive } from '../../bridges/checkpoint-archive.port.ts';
import type { CheckpointStore } from '../../bridges/checkpoint-store.port.ts';
import type { DailyLease } from '../../bridges/daily-lease.port.ts';
import type { DocumentPinStore } from '../../bridges/document-stores.port.ts';
import type { DocumentUpdates } from '../../bridges/document-updates.port.ts';
import type { ThreadStore } from '../../bridges/thread-store.port.ts';
import type { StoredRates } from '../../external/rate-limiter.port.ts';
import type { ApiKeyStore } from '../../identity/api-keys.port.ts';
import type { ProofIdStore } from '../../identity/proof-ids.port.ts';
import type { RevocationStore } from '../../identity/revocations.port.ts';
import type { AuthorizationStore } from '../../mcp-servers/authorization-store.port.ts';
import type { QuarantineStore } from '../../mcp-servers/quarantine-store.port.ts';
import type { UpstreamStore } from '../../mcp-servers/upstream-store.port.ts';
import type { OverflowStore } from '../../model-facing/overflow-store.port.ts';
import type { ApprovalStore } from '../../orchestration/approval-store.port.ts';
import type { CallLeaseStore } from '../../orchestration/call-lease-store.port.ts';
import type { CompensationStore } from '../../orchestration/compensation-store.port.ts';
import type { PolicyUpdates } from '../../permission/policy-updates.port.ts';
import type { QuotaStore } from '../../permission/quota-store.port.ts';
import type { SlotStore } from '../../permission/slot-store.port.ts';
import type { IdempotencyStore } from '../../pipeline/idempotency-store.port.ts';
import type { OutcomeStore } from '../../pipeline/outcome-store.port.ts';
import type { OutputStore } from '../../pipeline/output-store.port.ts';
import type { StateStore } from '../../pipeline/state-store.port.ts';
import type { UndoJournal } from '../../pipeline/undo-journal.port.ts';
import type { ContextStore } from '../../reference-servers/context-store.port.ts';
import type { DocumentStore } from '../../reference-servers/document-store.port.ts';
import type { SkillContentBounds, SkillContents } from '../../registry/skill-files.port.ts';
import type { ToolStore } from '../../registry/tool-store.port.ts';
import type { VectorIndex, VectorStore } from '../../registry/vectors.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { SessionToolStore } from '../../visibility/session-tools.port.ts';
import type { VisibilityStore } from '../../visibility/visibility-store.port.ts';
import { postgresApprovalStore } from './approvals/postgres-approval-store.ts';
import { postgresCallLeaseStore } from './calls/postgres-call-lease-store.ts';
import { postgresClaimedKeys } from './calls/postgres-claimed-keys.ts';
import { postgresCompensationStore } from './calls/postgres-compensation-store.ts';
import { postgresIdempotencyStore } from './calls/postgres-idempotency-store.ts';
import { postgresQuotaStore } from './calls/postgres-quota-store.ts';
import { postgresRateLimiter } from './calls/postgres-rate-limiter.ts';
import { postgresSessionToolStore } from './calls/postgres-session-tool-store.ts';
import { postgresSlotStore } from './calls/postgres-slot-store.ts';
import { databaseError, inDatabase } from './database-error.ts';
import { postgresLedgerStore } from './ledger/postgres-ledger-store.ts';
import { createStatementSender } from './ledger/statement-sender.ts';
import { postgresUnrecordedEvents } from './ledger/unrecorded-events.ts';
import { openPostgresDocumentUpdates } from './notifications/postgres-document-updates.ts';
import { openPostgresPolicyUpdates } from './notifications/postgres-policy-updates.ts';
import { postgresCheckpointArchive } from './outcomes/postgres-checkpoint-archive.ts';
import { postgresCheckpointStore } from './outcomes/postgres-checkpoint-store.ts';
import { postgresDailyLease } from './outcomes/postgres-daily-lease.ts';
import { postgresDocumentPins } from './outcomes/postgres-document-pins.ts';
import { postgresOutcomeStore } from './outcomes/postgres-outcome-store.ts';
import { postgresOutputStore } from './outcomes/postgres-output-store.ts';
import { postgresOverflowStore } from './outcomes/postgres-overflow-store.ts';
import { postgresStateStore } from './outcomes/postgres-state-store.ts';
import { postgresThreadStore } from './outcomes/postgres-thread-store.ts';
import { postgresUndoJournal } from './outcomes/postgres-undo-journal.ts';
import { type PostgresConnection, poolTarget } from './postgres-connection.ts';
import { postgresContextStore } from './reference-servers/postgres-context-store.ts';
import { postgresDocumentStore } from './reference-servers/postgres-document-store.ts';
import { postgresApiKeyStore } from './rights/postgres-api-key-store.ts';
import { postgresProofIds } from './rights/postgres-proof-ids.ts';
import { postgresRevocationStore } from './rights/postgres-revocation-store.ts';
import { migrate } from './schema/migrate.ts';
import type { Tables } from './schema/tables.ts';
import { CLOCK_APART_MS, clockAhead, SERVER_CLOCK } from './server/server-facts.ts';
import { hasPgvector, pgvectorIndex, type SendStatement } from './tools/pgvector-index.ts';
import { postgresAuthorizationStore } from './tools/postgres-authorization-store.ts';
import { postgresQuarantineStore } from './tools/postgres-quarantine-store.ts';
import { postgresSkillContents } from './tools/postgres-skill-contents.ts';
import { postgresToolStore } from './tools/postgres-tool-store.ts';
import { postgresUpstreamStore } from './tools/postgres-upstream-store.ts';
import { postgresVectorStore } from './tools/postgres-vector-store.ts';
import { postgresVisibilityStore } from './tools/postgres-visibility-store.ts';

/** Default number of connections at once; opened when they are first needed. */
const POOL_MAX = 16;
/** An unused connection is closed after this time, ms. */
const IDLE_MS = 60_000;
/** Longest wait for a connection, free or new, ms. */
const CONNECT_TIMEOUT_MS = 10_000;
/** After this silence a connection is probed, ms: one behind a firewall that forgot it brings no notification and no end. */
const PROBE_MS = 10_000;
/** Longest wait for an answer, ms, so that a dead server cannot hold a call for ever. */
const QUERY_TIMEOUT_MS = 60_000;
/** Oldest server version that the statements support. */
const OLDEST_VERSION = 150_000;

/** All stores over one pool of connections. */
export interface PostgresDatabase extends AsyncDisposable {
  readonly toolStore: ToolStore;
  readonly ledgerStore: LedgerStore;
  readonly unrecordedEvents: UnrecordedEvents;
  readonly idempotencyStore: IdempotencyStore;
  readonly claimedKeys: ClaimedKeys;
  readonly callLeaseStore: CallLeaseStore;
  readonly compensationStore: CompensationStore;
  readonly quotaStore: QuotaStore;
  /** Rates that all instances share. */
  readonly rateLimiter: StoredRates;
  /** Slots of agents that all instances share; needs one connection beside the pool. */
  readonly slotStore: SlotStore;
  readonly upstreamStore: UpstreamStore;
  readonly authorizationStore: AuthorizationStore;
  readonly quarantineStore: QuarantineStore;
  readonly visibilityStore: VisibilityStore;
  readonly revocationStore: RevocationStore;
  readonly apiKeyStore: ApiKeyStore;
  readonly approvalStore: ApprovalStore;
  readonly outcomeStore: OutcomeStore;
  readonly undoJournal: UndoJournal;
  readonly stateStore: StateStore;
  readonly documentPins: DocumentPinStore;
  readonly checkpointStore: CheckpointStore & CheckpointArchive;
  readonly threadStore: ThreadStore;
  readonly dailyLease: DailyLease;
  readonly documentStore: DocumentStore;
  readonly contextStore: ContextStore;
  readonly outputStore: OutputStore;
  readonly overflowStore: OverflowStore;
  readonly sessionTools: SessionToolStore;
  readonly proofIds: ProofIdStore;
  readonly skillContents: SkillContents;
  readonly vectorStore: VectorStore;
  /**
   * Vectors in the database itself.
   * @returns undefined when the server has no pgvector
   */
  vectorIndex(): Promise<VectorIndex | undefined>;
  /**
   * Notifications of changed policies to and from the other instances; needs one connection beside the pool.
   * @throws E3812 when the database cannot be read
   */
  policyUpdates(): Promise<PolicyUpdates>;
  /** Notifications of changed documents to and from the other instances; needs one connection beside the pool. */
  documentUpdates(): Promise<DocumentUpdates>;
  /** The server's time, epoch ms. @throws E3812 */
  now(): Promise<number>;
  /**
   * Writes one small row and commits it, as durably as calls are recorded.
   * @throws E3812 when nothing can be written, with the reason; the server gives up after some seconds
   */
  tryWrite(): Promise<void>;
  /** Waits for running queries and closes every connection. Idempotent. */
  close(): Promise<void>;
}

/** Options of the database. */
export interface PostgresOptions {
  readonly connection: PostgresConnection;
  /** Connections at once; 16 when absent. */
  readonly poolMax?: number;
  /** Limits on stored skills; `SKILL_CONTENT_BOUNDS` when absent. */
  readonly skillContentBounds?: SkillContentBounds;
  readonly log: Log;
  /** Compared with the server's clock. Default: the machine's. */
  readonly clock?: Clock;
}

/**
 * Connects, and migrates the schema `sallyport`; instances that start at the same time wait for one another.
 * @throws ToolLayerError E3812 when the server cannot be reached, is older than PostgreSQL 15, refuses the user, or was
 *   written by a newer version of the layer
 */
export async function openPostgres({
  connection,
  poolMax = POOL_MAX,
  skillContentBounds,
  log,
  clock = systemClock,
}: PostgresOptions): Promise<PostgresDatabase> {
  const pool = openPool(connection, poolMax, log);
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await inspectServer(database, clock, log);
    await migrate(database);
  } catch (error) {
    await pool.end();
    throw databaseError('be opened', error);
  }
  const sender = createStatementSender(pool);
  const connect = (): Client => new Client({ ...clientOptions(connection), query_timeout: CONNECT_TIMEOUT_MS });
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= sender.close().then(() => pool.end());
    return closing;
  };
  return {
    toolStore: postgresToolStore(database),
    ledgerStore: postgresLedgerStore(sender, pool, database),
    unrecordedEvents: postgresUnrecordedEvents(pool),
    idempotencyStore: postgresIdempotencyStore(pool),
    claimedKeys: postgresClaimedKeys(pool),
    callLeaseStore: postgresCallLeaseStore(pool),
    compensationStore: postgresCompensationStore(database),
    quotaStore: postgresQuotaStore(pool),
    rateLimiter: postgresRateLimiter(pool),
    slotStore: postgresSlotStore({ pool, connect, log }),
    upstreamStore: postgresUpstreamStore(database),
    authorizationStore: postgresAuthorizationStore(database),
    quarantineStore: postgresQuarantineStore(database),
    visibilityStore: postgresVisibilityStore(database),
    revocationStore: postgresRevocationStore(database),
    apiKeyStore: postgresApiKeyStore(database),
    approvalStore: postgresApprovalStore(database),
    outcomeStore: postgresOutcomeStore(database),
    undoJournal: postgresUndoJournal(pool),
    contextStore: postgresContextStore(pool),
    threadStore: postgresThreadStore(pool),
    documentPins: postgresDocumentPins(pool),
    dailyLease: postgresDailyLease(pool),
    checkpointStore: { ...postgresCheckpointStore(pool), ...postgresCheckpointArchive(pool) },
    stateStore: postgresStateStore(pool),
    documentStore: postgresDocumentStore(pool),
    outputStore: postgresOutputStore(pool),
    overflowStore: postgresOverflowStore(pool),
    sessionTools: postgresSessionToolStore(pool),
    proofIds: postgresProofIds(pool),
    skillContents: postgresSkillContents(database, skillContentBounds),
    vectorStore: postgresVectorStore(pool),
    vectorIndex: () => vectorIndexOf((text, values) => pool.query(text, [...values])),
    policyUpdates: () => openPostgresPolicyUpdates({ pool, connect, log }),
    documentUpdates: () => openPostgresDocumentUpdates({ pool, connect, log }),
    now: () =>
      inDatabase('ask for the time', async () => {
        const { rows } = await pool.query<{ clock: string }>(`select ${SERVER_CLOCK} as clock`);
        return Number(rows[0]?.clock);
      }),
    tryWrite: () => inDatabase('write', async () => void (await pool.query(TRY_WRITE))),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Writes the row of a sink that only this check uses, in one transaction: statements sent together are one. The server
 * gives up before the client's timeout, so a write that hangs on a lock holds no connection afterwards.
 */
const TRY_WRITE = `set local statement_timeout = '3s';
insert into sallyport.sink_positions as known (sink, position) values ('readiness', 1)
on conflict (sink) do update set position = known.position + 1`;

const vectorIndexOf = async (send: SendStatement): Promise<VectorIndex | undefined> =>
  (await hasPgvector(send)) ? pgvectorIndex(send) : undefined;

const clientOptions = (connection: PostgresConnection) => ({
  ...poolTarget(connection),
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  keepAliveInitialDelayMillis: PROBE_MS,
  fallback_application_name: 'sallyport',
});

function openPool(connection: PostgresConnection, poolMax: number, log: Log): Pool {
  const pool = new Pool({
    ...clientOptions(connection),
    max: poolMax,
    idleTimeoutMillis: IDLE_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  // An idle connection was lost; the next query opens another. A pool that ends does not wait for the server's goodbye.
  pool.on('error', (error) => {
    if (!pool.ending) log.warn('database-connection-lost', { error: error.message });
  });
  // The pool reports errors of idle connections only, and an unhandled error event would end the process. The running
  // query gets the error itself.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** A clock that differs is no reason not to start: what other instances wrote ends early or late there. */
async function inspectServer(database: Kysely<Tables>, clock: Clock, log: Log): Promise<void> {
  const asked = clock.now();
  const { rows } = await sql<{ number: string; version: string; clock: string }>`
select current_setting('server_version_num') as number, current_setting('server_version') as version,
  ${sql.raw(SERVER_CLOCK)} as clock`.execute(database);
  const [server] = rows;
  if (server === undefined) return;
  if (Number(server.number) < OLDEST_VERSION)
    throw new ToolLayerError(
      'E3812',
      `The database is PostgreSQL ${server.version}; the layer needs version 15 or later.`,
    );
  const aheadMs = clockAhead(asked, Number(server.clock), clock.now());
  if (Math.abs(aheadMs) > CLOCK_APART_MS) log.warn('clock-apart', { ahead_of_database_ms: aheadMs });
}
