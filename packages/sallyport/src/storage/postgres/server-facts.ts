import { Client } from 'pg';
import { inDatabase } from './database-error.ts';
import { type PostgresConnection, poolTarget } from './postgres-connection.ts';

/** Facts about a server for `doctor`. */
export interface ServerFacts {
  readonly version: string;
  /** True when the layer's role is superuser: it may start programs, read files, change the audit. */
  readonly isSuperuser: boolean;
}

/** Longest wait for the server, in ms. */
const TIMEOUT_MS = 5_000;

/**
 * Connects once and reads the facts.
 * @throws E3812 when the server cannot be reached or refuses the user
 */
export async function serverFacts(connection: PostgresConnection): Promise<ServerFacts> {
  const client = new Client({
    ...poolTarget(connection),
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  return inDatabase('be asked', async () => {
    try {
      await client.connect();
      const { rows } = await client.query<{ version: string; superuser: string }>(FACTS);
      const [row] = rows;
      return { version: row?.version ?? '', isSuperuser: row?.superuser === 'on' };
    } finally {
      await client.end();
    }
  });
}

const FACTS = "select current_setting('server_version') as version, current_setting('is_superuser') as superuser";
