import type { Pool, PoolClient } from 'pg';
import type {
  HeldState,
  StateHolder,
  StateKey,
  StateStore,
  StateWrite,
  StateWritten,
} from '../../../pipeline/state-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import { inTransaction } from './in-transaction.ts';

const KEY = 'tenant_id = $1 and owner_id = $2 and tool_id = $3 and name = $4';

const READ = {
  name: 'sallyport-read-state',
  text: `select value, revision, held_by, fence, next from sallyport.tool_state where ${KEY}`,
};

/**
 * Serialises the writers of one tool, so that the count of its values includes all earlier ones. The commit need not
 * wait for the disk, since the row of the call, which makes the write count, does so afterwards.
 */
const LOCK = {
  name: 'sallyport-lock-state',
  text: `
select set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(hashtextextended(
  jsonb_build_array('tool_state', $1::text, $2::text, $3::text)::text, 0))`,
};

const COUNT = {
  name: 'sallyport-count-state',
  text: `
select count(*)::integer as values from sallyport.tool_state where tenant_id = $1 and owner_id = $2 and tool_id = $3`,
};

const INSERT = {
  name: 'sallyport-insert-state',
  text: `
insert into sallyport.tool_state (tenant_id, owner_id, tool_id, name, held_by, fence, next)
values ($1, $2, $3, $4, $5, $6, $7)`,
};

const HOLD = {
  name: 'sallyport-hold-state',
  text: `update sallyport.tool_state set held_by = $5, fence = $6, next = $7 where ${KEY}`,
};

const MINE = 'tenant_id = $1 and held_by = $2 and fence = $3';

/** Locked in the order of the names, so that two callers never deadlock. */
const KEEP = {
  name: 'sallyport-keep-state',
  text: `
with quick as materialized (select set_config('synchronous_commit', 'off', true)),
removed as (delete from sallyport.tool_state using quick where ${MINE} and next is null)
update sallyport.tool_state set value = next, revision = nextval('sallyport.tool_state_revisions'),
  held_by = null, fence = null, next = null
from quick where ${MINE} and next is not null`,
};

const DISCARD = {
  name: 'sallyport-discard-state',
  text: `
with quick as materialized (select set_config('synchronous_commit', 'off', true)),
removed as (delete from sallyport.tool_state using quick where ${MINE} and value is null)
update sallyport.tool_state set held_by = null, fence = null, next = null
from quick where ${MINE} and value is not null`,
};

interface StateRow {
  readonly value: string | null;
  readonly revision: string;
  readonly held_by: string | null;
  readonly fence: string | null;
  readonly next: string | null;
}

/** The state of tools, in PostgreSQL. */
export function postgresStateStore(pool: Pool): StateStore {
  return {
    read: (key) =>
      inDatabase('read what a tool keeps', async () => {
        const { rows } = await pool.query<StateRow>({ ...READ, values: placeOf(key) });
        const [row] = rows;
        return row === undefined ? undefined : shown(key.tenantId, row);
      }),
    write: (write) => inDatabase('write what a tool keeps', () => inTransaction(pool, (client) => put(client, write))),
    keep: (by) =>
      inDatabase('keep what a call wrote', async () => void (await pool.query({ ...KEEP, values: holderOf(by) }))),
    discard: (by) =>
      inDatabase(
        'discard what a call wrote',
        async () => void (await pool.query({ ...DISCARD, values: holderOf(by) })),
      ),
  };
}

async function put(client: PoolClient, write: StateWrite): Promise<StateWritten> {
  const { key, by, next, expected, valuesMax } = write;
  const place = placeOf(key);
  const scope = place.slice(0, 3);
  await client.query({ ...LOCK, values: scope });
  // Calls that end change rows without the lock: row locks serialise them with this one.
  const { rows } = await client.query<StateRow>({
    name: 'sallyport-lock-state-row',
    text: `${READ.text} for update`,
    values: place,
  });
  const [row] = rows;
  const standing = row === undefined ? undefined : shown(key.tenantId, row);
  const other = standing?.held?.by;
  if (other !== undefined && (other.invocationId !== by.invocationId || other.fence !== by.fence))
    return { heldBy: other };
  if (other === undefined && expected !== undefined && expected !== (standing?.revision ?? 0)) return 'changed';
  const values = [...place, keyText(by.invocationId), by.fence, next ?? null];
  if (standing !== undefined) {
    await client.query({ ...HOLD, values });
    return 'written';
  }
  if (next === undefined) return 'written';
  const counted = await client.query<{ values: number }>({ ...COUNT, values: scope });
  if ((counted.rows[0]?.values ?? 0) >= valuesMax) return 'full';
  await client.query({ ...INSERT, values });
  return 'written';
}

const placeOf = ({ tenantId, ownerId, toolId, name }: StateKey): string[] =>
  [tenantId, ownerId, toolId, name].map(keyText);
const holderOf = ({ tenantId, invocationId, fence }: StateHolder): unknown[] => [
  keyText(tenantId),
  keyText(invocationId),
  fence,
];

function shown(tenantId: string, { value, revision, held_by, fence, next }: StateRow): HeldState {
  const state = { value: value ?? undefined, revision: Number(revision) };
  if (held_by === null) return state;
  const by = { tenantId, invocationId: keyOfText(held_by), fence: Number(fence) };
  return { ...state, held: { by, next: next ?? undefined } };
}
