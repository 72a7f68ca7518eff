import { claimDataFolder, socketFolderOf, startEmbeddedPostgres } from '../storage/postgres/embedded-postgres.ts';
import type { PostgresConnection, SocketConnection } from '../storage/postgres/postgres-connection.ts';
import type { Log } from '../telemetry/log.ts';
import type { Settings } from './settings.ts';

/** A server that the layer can connect to. */
export interface DatabaseServer {
  readonly connection: PostgresConnection;
  /** Connection to the embedded server; absent when the user's own server is used. */
  readonly embedded?: SocketConnection;
  close(): Promise<void>;
}

/** A server that is being started. */
export interface StartingDatabase {
  /** Rejects with ToolLayerError E3812 saying what to change. The caller that awaits it closes the server. */
  readonly server: Promise<DatabaseServer>;
  /** Resolves when only the wait for the server is left, so that other work can be done meanwhile. Never rejects. */
  readonly waiting: Promise<void>;
  /**
   * Folders of the embedded server's socket, which may be outside the data folder; empty when the user's own server is
   * used.
   */
  readonly socketFolders: readonly string[];
}

/** Starts the embedded PostgreSQL, unless the settings name another server. One layer has a data folder at a time. */
export function startDatabase(settings: Settings, log: Log): StartingDatabase {
  const url = settings['database.url'];
  if (url !== '') {
    const server = claimDataFolder(settings['data_folder']).then((close) => ({ connection: { url }, close }));
    return { server, waiting: settled(server), socketFolders: [] };
  }
  const { promise: waiting, resolve: onWaiting } = Promise.withResolvers<void>();
  const server = startEmbeddedPostgres({ dataFolder: settings['data_folder'], log, onWaiting }).then(
    ({ connection, close }) => ({ connection, embedded: connection, close }),
  );
  void settled(server).then(onWaiting);
  return { server, waiting, socketFolders: [socketFolderOf(settings['data_folder'])] };
}

const settled = (server: Promise<DatabaseServer>): Promise<void> =>
  server.then(
    () => undefined,
    () => undefined,
  );
