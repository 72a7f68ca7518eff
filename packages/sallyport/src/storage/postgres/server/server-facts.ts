import { Client } from 'pg';
import { inDatabase } from '../database-error.ts';
import { type PostgresConnection, poolTarget } from '../postgres-connection.ts';

/** Facts about a server for `doctor`. */
export interface ServerFacts {
  readonly version: string;
  /** True when the layer's role is superuser: it may start programs, read files, change the audit. */
  readonly isSuperuser: boolean;
  /** See {@link clockAhead}. */
  readonly clockAheadMs: number;
}

/** Longest wait for the server, in ms. */
const TIMEOUT_MS = 5_000;
/** A clock that differs by more than this from the database's is reported, in ms; as far as tokens may be off by default. */
export const CLOCK_APART_MS = 5_000;
/** The clock of the server, as text in epoch ms. */
export const SERVER_CLOCK = 'round(extract(epoch from clock_timestamp()) * 1000)::text';

/**
 * Connects once and reads the facts.
 * @throws E3812 when the server cannot be reached or refuses the user
 */
export async function serverFacts(connection: PostgresConnection, now: () => number): Promise<ServerFacts> {
  const client = new Client({
    ...poolTarget(connection),
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  return inDatabase('be asked', async () => {
    try {
      await client.connect();
      const asked = now();
      const { rows } = await client.query<{ version: string; superuser: string; clock: string }>(FACTS);
      const [row] = rows;
      const clockAheadMs = clockAhead(asked, Number(row?.clock), now());
      return { version: row?.version ?? '', isSuperuser: row?.superuser === 'on', clockAheadMs };
    } finally {
      await client.end();
    }
  });
}

const FACTS = `select current_setting('server_version') as version, current_setting('is_superuser') as superuser,
  ${SERVER_CLOCK} as clock`;

/**
 * Ms by which this process's clock is ahead of the server's, at least; negative when it is behind.
 * @param asked this process's clock before the server read its own
 * @param answered and after it
 */
export function clockAhead(asked: number, server: number, answered: number): number {
  return server < asked ? asked - server : Math.min(0, answered - server);
}
