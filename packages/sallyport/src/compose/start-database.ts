import { socketFolderOf, startEmbeddedPostgres } from '../storage/postgres/embedded-postgres.ts';
import type { PostgresConnection, SocketConnection } from '../storage/postgres/postgres-connection.ts';
import type { Log } from '../telemetry/log.ts';
import type { Settings } from './settings.ts';

/** A server that the layer can connect to. */
export interface DatabaseServer {
  readonly connection: PostgresConnection;
  /** How to reach the embedded server; absent for a server of the user's own. */
  readonly embedded?: SocketConnection;
  close(): Promise<void>;
}

/** A server that is being started. */
export interface StartingDatabase {
  /** Rejects with ToolLayerError E3812 saying what to change. Whoever waits for it closes it. */
  readonly server: Promise<DatabaseServer>;
  /** Resolves when nothing is left to do but to wait for the server: the time for work of one's own. Never rejects. */
  readonly waiting: Promise<void>;
  /** Folder of the embedded server's socket, which may lie outside of the data folder; none for a server of the user's own. */
  readonly socketFolders: readonly string[];
}

/** Starts the embedded PostgreSQL, unless the settings name another. */
export function startDatabase(settings: Settings, log: Log): StartingDatabase {
  const url = settings['database.url'];
  if (url !== '') {
    const server = Promise.resolve({ connection: { url }, close: async () => undefined });
    return { server, waiting: Promise.resolve(), socketFolders: [] };
  }
  const { promise: waiting, resolve: onWaiting } = Promise.withResolvers<void>();
  const server = startEmbeddedPostgres({ dataFolder: settings['data_folder'], log, onWaiting }).then(
    ({ connection, close }) => ({ connection, embedded: connection, close }),
  );
  server.then(
    () => onWaiting(),
    () => onWaiting(),
  );
  return { server, waiting, socketFolders: [socketFolderOf(settings['data_folder'])] };
}
