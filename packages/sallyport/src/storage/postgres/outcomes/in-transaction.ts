import type { Pool, PoolClient } from 'pg';

/** Runs statements in one transaction of their own. A failure rolls it back, with the connection. */
export async function inTransaction<Result>(pool: Pool, run: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let hasFailed = true;
  try {
    await client.query('begin');
    const result = await run(client);
    await client.query('commit');
    hasFailed = false;
    return result;
  } finally {
    client.release(hasFailed);
  }
}
