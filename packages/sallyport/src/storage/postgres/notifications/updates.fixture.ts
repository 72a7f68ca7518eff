import { Client, Pool } from 'pg';
import type { DocumentUpdates } from '../../../bridges/document-updates.port.ts';
import type { PolicyUpdates } from '../../../permission/policy-updates.port.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { type PostgresConnection, poolTarget } from '../postgres-connection.ts';
import type { UpdatesParts } from './poll.ts';
import { openPostgresDocumentUpdates } from './postgres-document-updates.ts';
import { openPostgresPolicyUpdates } from './postgres-policy-updates.ts';

/** The updates of one instance over a database. */
export interface InstanceUpdates<Updates> {
  readonly store: Updates;
  close(): Promise<void>;
}

/** The policy updates of one instance. */
export const policyUpdatesAt = (
  connection: PostgresConnection,
  changes?: Partial<UpdatesParts>,
): Promise<InstanceUpdates<PolicyUpdates>> => updatesAt(openPostgresPolicyUpdates, connection, changes);

/** The updates of documents of one instance. */
export const documentUpdatesAt = (
  connection: PostgresConnection,
  changes?: Partial<UpdatesParts>,
): Promise<InstanceUpdates<DocumentUpdates>> => updatesAt(openPostgresDocumentUpdates, connection, changes);

async function updatesAt<Updates extends AsyncDisposable>(
  open: (parts: UpdatesParts) => Promise<Updates>,
  connection: PostgresConnection,
  changes: Partial<UpdatesParts> = {},
): Promise<InstanceUpdates<Updates>> {
  const pool = new Pool({ ...poolTarget(connection), max: 2 });
  pool.on('error', () => undefined);
  const connect = () => new Client(poolTarget(connection));
  const store = await open({ pool, connect, log: silentLog, ...changes });
  return {
    store,
    close: async () => {
      await store[Symbol.asyncDispose]();
      await pool.end();
    },
  };
}
