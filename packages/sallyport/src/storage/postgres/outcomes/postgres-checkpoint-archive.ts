import type { Pool, QueryResultRow } from 'pg';
import type { CheckpointArchive, NamedObject } from '../../../bridges/checkpoint-archive.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import { FACTS, type FactsRow, factsOf, objectColumnsOf, stateBytesOf } from './postgres-checkpoint-store.ts';

const DUE = `
select ${FACTS} from sallyport.checkpoints
where archive_at <= now() and expires_at > now() and (state is not null or object_name is not null)
order by archive_at, tenant_id, checkpoint_id limit $1 offset $2`;

const MOVE = `
update sallyport.checkpoints set form = $3, state = $4::bytea, object_name = $5::text, object_size = $6::bigint, object_sha256 = $7::text,
  archive_at = to_timestamp($8::double precision / 1000), archived_at = to_timestamp($9::double precision / 1000)
where tenant_id = $1 and checkpoint_id = $2 and (expires_at is null or expires_at > now())`;

interface ObjectRow extends QueryResultRow {
  readonly tenant_id: string;
  readonly object_name: string;
}

/** Which object belongs to which checkpoint, in PostgreSQL (STA-03, STA-06). */
export function postgresCheckpointArchive(pool: Pool): CheckpointArchive {
  return { ...objectsIn(pool), ...movesIn(pool) };
}

function objectsIn(pool: Pool): Pick<CheckpointArchive, 'announce' | 'unused' | 'removed'> {
  return {
    announce: ({ tenantId, name }, removeAfter) =>
      inDatabase('announce an object', async () => {
        await pool.query(
          `insert into sallyport.state_objects (tenant_id, object_name, remove_after)
          values ($1, $2, to_timestamp($3::double precision / 1000))`,
          [keyText(tenantId), name, removeAfter],
        );
      }),
    unused: (limit) =>
      inDatabase('find unused objects', async () => {
        const { rows } = await pool.query<ObjectRow>(
          `select tenant_id, object_name from sallyport.state_objects
          where remove_after <= now() order by remove_after limit $1`,
          [limit],
        );
        return rows.map(
          ({ tenant_id, object_name }): NamedObject => ({ tenantId: keyOfText(tenant_id), name: object_name }),
        );
      }),
    removed: ({ tenantId, name }) =>
      inDatabase('forget an object', async () => {
        await pool.query(
          `delete from sallyport.state_objects where tenant_id = $1 and object_name = $2 and remove_after <= now()`,
          [keyText(tenantId), name],
        );
      }),
  };
}

function movesIn(pool: Pool): Pick<CheckpointArchive, 'due' | 'move'> {
  return {
    due: (limit, skipped) =>
      inDatabase('find checkpoints to archive', async () => {
        const { rows } = await pool.query<FactsRow>(DUE, [limit, skipped]);
        return rows.map(factsOf);
      }),
    move: (tenantId, checkpointId, packed, { archiveAt, archivedAt }) =>
      inDatabase('move the state of a checkpoint', async () => {
        const ids = [keyText(tenantId), keyText(checkpointId)];
        const state = [packed.form, stateBytesOf(packed), ...objectColumnsOf(packed)];
        const { rowCount } = await pool.query(MOVE, [...ids, ...state, archiveAt ?? null, archivedAt ?? null]);
        return (rowCount ?? 0) > 0;
      }),
  };
}
