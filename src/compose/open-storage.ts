import { startEmbeddedPostgres } from '../storage/postgres/embedded-postgres.ts';
import type { SocketConnection } from '../storage/postgres/postgres-connection.ts';
import { openPostgres, type PostgresDatabase } from '../storage/postgres/postgres-database.ts';
import type { Log } from '../telemetry/log.ts';
import type { Settings } from './settings.ts';

/** The database of the layer, and where it is. */
export interface Storage {
  readonly database: PostgresDatabase;
  /** How to reach the embedded server; absent for a server of the user's own. */
  readonly embedded?: SocketConnection;
  close(): Promise<void>;
}

/**
 * The PostgreSQL that the settings name, or the embedded one, its schema up to date.
 * @throws ToolLayerError E3812 saying what to change
 */
export async function openStorage(settings: Settings, log: Log): Promise<Storage> {
  const poolMax = settings['database.pool_max'];
  const url = settings['database.url'];
  if (url !== '') {
    const database = await openPostgres({ connection: { url }, poolMax, log });
    return { database, close: () => database.close() };
  }
  const server = await startEmbeddedPostgres({ dataFolder: settings['data_folder'], log });
  try {
    const database = await openPostgres({ connection: server.connection, poolMax, log });
    const close = async (): Promise<void> => {
      await database.close();
      await server.close();
    };
    return { database, embedded: server.connection, close };
  } catch (cause) {
    await server.close();
    throw cause;
  }
}
