import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { Client } from 'pg';

/** A server on a Unix socket of this machine. */
export interface SocketConnection {
  readonly socketFolder: string;
  readonly port: number;
  readonly user: string;
  /** Secret; absent when the server needs none. */
  readonly password?: string;
  readonly database: string;
}

/** Any PostgreSQL from version 15 on, as a `postgres://` URL. */
export interface UrlConnection {
  readonly url: string;
}

/** Connection settings of the database. */
export type PostgresConnection = SocketConnection | UrlConnection;

/**
 * Connection options for `pg`. A type of our own: the typings of `pg` are no dependency of the package, and programs
 * compile against ours.
 */
export type PoolTarget =
  | (Omit<SocketConnection, 'socketFolder'> & { readonly host: string })
  | { readonly connectionString: string };

/**
 * The connection in the form of `pg`.
 * @throws E3812 when the URL is invalid; the message does not repeat it, because it may hold a password
 */
export function poolTarget(connection: PostgresConnection): PoolTarget {
  if ('socketFolder' in connection) {
    const { socketFolder: host, ...rest } = connection;
    return { host, ...rest };
  }
  const { url: connectionString } = connection;
  if (!/^postgres(?:ql)?:\/\//.test(connectionString)) throw notAnAddress();
  try {
    new Client({ connectionString });
  } catch {
    // The original error is dropped: it may repeat the URL, and so the password.
    throw notAnAddress();
  }
  return { connectionString };
}

function notAnAddress(): ToolLayerError {
  const message = 'SALLYPORT_DATABASE_URL must look like postgres://user:password@host:5432/database.';
  return new ToolLayerError('E3812', message);
}
