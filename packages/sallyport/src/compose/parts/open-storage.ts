import type { Clock } from '@sallyport/std/clock';
import type { DocumentUpdates } from '../../bridges/document-updates.port.ts';
import { parametersSeal } from '../../domain/invocation/tasks/sealed-parameters.ts';
import type { RateLimiter } from '../../external/rate-limiter.port.ts';
import type { PolicyUpdates } from '../../permission/policy-updates.port.ts';
import type { SlotStore } from '../../permission/slot-store.port.ts';
import { memoryDocumentUpdates } from '../../storage/memory/memory-document-updates.ts';
import { memoryPolicyUpdates } from '../../storage/memory/memory-policy-updates.ts';
import { memoryRateLimiter } from '../../storage/memory/memory-rate-limiter.ts';
import type { PostgresConnection, SocketConnection } from '../../storage/postgres/postgres-connection.ts';
import { openPostgres, type PostgresDatabase } from '../../storage/postgres/postgres-database.ts';
import { followServerClock } from '../../storage/postgres/server/server-clock.ts';
import { withSealedArguments } from '../../storage/sealed/sealed-arguments.ts';
import { withSealedEdits } from '../../storage/sealed/sealed-edits.ts';
import { withSealedLeases } from '../../storage/sealed/sealed-leases.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Settings } from '../settings.ts';
import type { DatabaseServer } from '../start-database.ts';
import { loadSealingKey } from './keys/sealing-key.ts';

/** The database of the layer, and its connection. */
export interface Storage {
  readonly database: PostgresDatabase;
  /** Connection to the database. */
  readonly connection: PostgresConnection;
  /** Connection to the embedded server; absent when the user's own server is used. */
  readonly embedded?: SocketConnection;
  /**
   * The time by which approvals and checkpoints end: that of the database where several instances may share it, so that it
   * is the same for all of them.
   */
  readonly clock: Clock;
  /** Encrypts secrets in the database; absent when nothing in it is encrypted. */
  readonly sealingKey?: Uint8Array;
  close(): Promise<void>;
}

/**
 * Connects to the server once it runs, and migrates the schema. Closing the storage closes the server too.
 * @throws ToolLayerError E3812 saying what to change
 */
export async function openStorage(
  starting: Promise<DatabaseServer>,
  { settings, log, clock }: { readonly settings: Settings; readonly log: Log; readonly clock: Clock },
): Promise<Storage> {
  const server = await starting;
  const { connection, embedded } = server;
  try {
    const sealingKey = await loadSealingKey(settings);
    const database = await openPostgres({ connection, poolMax: settings['database.pool_max'], log, clock });
    const shared = embedded === undefined ? await followServerClock(database.now, clock) : undefined;
    const close = async (): Promise<void> => {
      shared?.[Symbol.dispose]();
      await database.close();
      await server.close();
    };
    const base = { connection, clock: shared ?? clock, ...(embedded === undefined ? {} : { embedded }), close };
    if (sealingKey === undefined) return { ...base, database };
    const seal = parametersSeal(sealingKey);
    const ledgerStore = withSealedArguments(database.ledgerStore, seal, log);
    const approvalStore = withSealedEdits(database.approvalStore, seal, log);
    const callLeaseStore = withSealedLeases(database.callLeaseStore, seal);
    return { ...base, database: { ...database, ledgerStore, approvalStore, callLeaseStore }, sealingKey };
  } catch (cause) {
    await server.close();
    throw cause;
  }
}

/** The user's own database may serve several instances; the embedded one serves only this process. */
export function rateLimiterOf(
  { database, embedded }: Pick<Storage, 'database' | 'embedded'>,
  settings: Settings,
  clock: Clock,
): RateLimiter {
  const wanted = settings['rate.store'];
  const shared = wanted === 'postgres' || (wanted === 'auto' && embedded === undefined);
  return shared ? database.rateLimiter : memoryRateLimiter({ clock });
}

/** The slots of agents across instances; undefined when each instance counts its own. */
export function slotStoreOf(
  { database, embedded }: Pick<Storage, 'database' | 'embedded'>,
  settings: Settings,
): SlotStore | undefined {
  const wanted = settings['calls.slot_store'];
  const shared = wanted === 'postgres' || (wanted === 'auto' && embedded === undefined);
  return shared ? database.slotStore : undefined;
}

/** Only one instance can use an embedded server, which notifies itself in memory. */
export const openPolicyUpdates = async ({ database, embedded }: Storage): Promise<PolicyUpdates> =>
  embedded === undefined ? database.policyUpdates() : memoryPolicyUpdates();

/** The same for changed documents. */
export const openDocumentUpdates = async ({ database, embedded }: Storage): Promise<DocumentUpdates> =>
  embedded === undefined ? database.documentUpdates() : memoryDocumentUpdates();
