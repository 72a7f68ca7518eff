import type { Pool, PoolClient } from 'pg';

/** Runs statements in one transaction of their own, which a failure rolls back. */
export async function inTransaction<Result>(pool: Pool, run: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('begin');
    const result = await run(client);
    await client.query('commit');
    broken = false;
    return result;
  } catch (thrown) {
    // A connection whose rollback fails is broken, and of no use to others.
    broken = await client.query('rollback').then(
      () => false,
      () => true,
    );
    throw thrown;
  } finally {
    client.release(broken);
  }
}
