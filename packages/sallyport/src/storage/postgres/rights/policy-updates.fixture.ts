import { Client, Pool } from 'pg';
import type { PolicyUpdates } from '../../../permission/policy-updates.port.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { type PostgresConnection, poolTarget } from '../postgres-connection.ts';
import { openPostgresPolicyUpdates, type PostgresPolicyUpdatesParts } from './postgres-policy-updates.ts';

/** The policy updates of one instance over a database. */
export async function policyUpdatesAt(
  connection: PostgresConnection,
  changes: Partial<PostgresPolicyUpdatesParts> = {},
): Promise<{ readonly store: PolicyUpdates; close(): Promise<void> }> {
  const pool = new Pool({ ...poolTarget(connection), max: 2 });
  pool.on('error', () => undefined);
  const connect = () => new Client(poolTarget(connection));
  const store = await openPostgresPolicyUpdates({ pool, connect, log: silentLog, ...changes });
  return {
    store,
    close: async () => {
      await store[Symbol.asyncDispose]();
      await pool.end();
    },
  };
}
