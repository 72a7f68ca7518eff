import type { Clock } from '@sallyport/std/clock';
import type { RateLimiter } from '../../external/rate-limiter.port.ts';
import type { PolicyUpdates } from '../../permission/policy-updates.port.ts';
import type { SlotStore } from '../../permission/slot-store.port.ts';
import { memoryPolicyUpdates } from '../../storage/memory/memory-policy-updates.ts';
import { memoryRateLimiter } from '../../storage/memory/memory-rate-limiter.ts';
import type { PostgresConnection, SocketConnection } from '../../storage/postgres/postgres-connection.ts';
import { openPostgres, type PostgresDatabase } from '../../storage/postgres/postgres-database.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Settings } from '../settings.ts';
import type { DatabaseServer } from '../start-database.ts';

/** The database of the layer, and its connection. */
export interface Storage {
  readonly database: PostgresDatabase;
  /** Connection to the database. */
  readonly connection: PostgresConnection;
  /** Connection to the embedded server; absent when the user's own server is used. */
  readonly embedded?: SocketConnection;
  close(): Promise<void>;
}

/**
 * Connects to the server once it runs, and migrates the schema. Closing the storage closes the server too.
 * @throws ToolLayerError E3812 saying what to change
 */
export async function openStorage(starting: Promise<DatabaseServer>, settings: Settings, log: Log): Promise<Storage> {
  const server = await starting;
  const { connection, embedded } = server;
  try {
    const database = await openPostgres({ connection, poolMax: settings['database.pool_max'], log });
    const close = async (): Promise<void> => {
      await database.close();
      await server.close();
    };
    return { database, connection, ...(embedded === undefined ? {} : { embedded }), close };
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
