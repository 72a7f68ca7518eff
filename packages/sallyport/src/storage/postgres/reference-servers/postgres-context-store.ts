import type { Pool, QueryResultRow } from 'pg';
import { type CallOwner, ownerNames } from '../../../domain/invocation/call-owner.ts';
import type {
  ContextBounds,
  ContextCheckpointFacts,
  ContextStore,
  ContextVersionFacts,
  StoredContext,
} from '../../../reference-servers/context-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';

const TASK = 'tenant_id = $1 and owner = $2 and task_id = $3';

/** One statement: the task's row serialises the writers, and only what follows the newest version is stored. */
const PUT = `
with held as (
  select count(*) filter (where task_id = $3) as known, count(*) as tasks from sallyport.context_tasks
  where tenant_id = $1 and owner = $2 and $4::bigint = 1
), begun as (
  insert into sallyport.context_tasks (tenant_id, owner, task_id, newest, saved_at)
  select $1::text, $2::text, $3::text, 1, to_timestamp($5::double precision / 1000) from held
  where $4::bigint = 1 and tasks < $8::bigint
  on conflict do nothing returning 1
), followed as (
  update sallyport.context_tasks set newest = $4, saved_at = to_timestamp($5::double precision / 1000)
  where ${TASK} and newest = $4::bigint - 1 returning 1
), written as (
  insert into sallyport.context_versions (tenant_id, owner, task_id, version, facts, context)
  select $1, $2, $3, $4, $6::json, $7::json where exists (select from begun) or exists (select from followed)
  returning 1
), dropped as (
  delete from sallyport.context_versions
  where ${TASK} and version <= $4::bigint - $9::bigint and exists (select from written)
)
select exists (select from written) as is_written, known = 0 and tasks >= $8::bigint as is_full from held`;

const ADD_CHECKPOINT = `
with held as (
  select count(*) as checkpoints from sallyport.context_checkpoints where ${TASK}
), found as (
  select context from sallyport.context_versions where ${TASK} and version = $5
), written as (
  insert into sallyport.context_checkpoints (tenant_id, owner, task_id, checkpoint_id, is_named, facts, context)
  select $1::text, $2::text, $3::text, $4::text, $6::boolean, $7::json, context from found, held
  where checkpoints < $8::bigint returning 1
)
select exists (select from written) as is_written, exists (select from found) as is_found`;

/** Removes the oldest tasks without a named checkpoint. */
const forgetting = (which: string, limit: string): string => `
with due as materialized (
  select tenant_id, owner, task_id from sallyport.context_tasks task
  where ${which} and not exists (
    select from sallyport.context_checkpoints named
    where named.tenant_id = task.tenant_id and named.owner = task.owner and named.task_id = task.task_id and is_named)
  order by saved_at limit ${limit} for update skip locked)
delete from sallyport.context_tasks where (tenant_id, owner, task_id) in (select * from due)`;

const FORGET = forgetting('saved_at < to_timestamp($1::double precision / 1000)', '$2');
const FORGET_OLDEST = forgetting('tenant_id = $1 and owner = $2', '1');

interface ContextRow<Facts> extends QueryResultRow {
  readonly facts: Facts;
  readonly context: Readonly<Record<string, unknown>>;
}

/** Contexts of tasks in PostgreSQL (STA-04). */
export function postgresContextStore(pool: Pool): ContextStore {
  const forget = (text: string, values: readonly unknown[]): Promise<number> =>
    inDatabase('forget old contexts', async () => (await pool.query(text, [...values])).rowCount ?? 0);
  return {
    ...versionsIn(pool),
    ...checkpointsIn(pool),
    forget: (savedBefore, limit) => forget(FORGET, [savedBefore, limit]),
    forgetOldest: async (owner) => (await forget(FORGET_OLDEST, ownerOf(owner))) > 0,
  };
}

function versionsIn(pool: Pool): Pick<ContextStore, 'put' | 'newest' | 'version' | 'versions'> {
  const find = (of: readonly unknown[], which: string): Promise<StoredContext | undefined> =>
    inDatabase('read the context', async () => {
      const { rows } = await pool.query<ContextRow<ContextVersionFacts>>(
        `select facts, context from sallyport.context_versions where ${TASK} ${which}`,
        [...of],
      );
      return rows[0] === undefined ? undefined : { ...rows[0].facts, context: rows[0].context };
    });
  return {
    put: (owner, stored, bounds) => put(pool, owner, stored, bounds),
    newest: (owner, taskId) => find(keyOf(owner, taskId), 'order by version desc limit 1'),
    version: (owner, taskId, version) => find([...keyOf(owner, taskId), version], 'and version = $4'),
    versions: (owner, taskId, limit) =>
      inDatabase('list the versions of the context', async () => {
        const { rows } = await pool.query<ContextRow<ContextVersionFacts>>(
          `select facts from sallyport.context_versions where ${TASK} order by version desc limit $4`,
          [...keyOf(owner, taskId), limit],
        );
        return rows.map(({ facts }) => facts);
      }),
  };
}

function put(
  pool: Pool,
  owner: CallOwner,
  { context, ...facts }: StoredContext,
  { tasksMax, versionsMax }: ContextBounds,
): ReturnType<ContextStore['put']> {
  const { taskId, version, savedAt } = facts;
  const values = [version, savedAt, JSON.stringify(facts), JSON.stringify(context), tasksMax, versionsMax];
  return inDatabase('store the context', async () => {
    const { rows } = await pool.query<{ is_written: boolean; is_full: boolean }>(PUT, [
      ...keyOf(owner, taskId),
      ...values,
    ]);
    if (rows[0]?.is_written === true) return 'stored';
    return rows[0]?.is_full === true ? 'full' : 'stale';
  });
}

function checkpointsIn(pool: Pool): Pick<ContextStore, 'addCheckpoint' | 'checkpoints' | 'checkpoint'> {
  const from = 'from sallyport.context_checkpoints where';
  return {
    addCheckpoint: (owner, facts, { checkpointsMax }) =>
      inDatabase('store the checkpoint of the context', async () => {
        const { taskId, checkpointId, version, type } = facts;
        const values = [keyText(checkpointId), version, type === 'named', JSON.stringify(facts), checkpointsMax];
        const { rows } = await pool.query<{ is_written: boolean; is_found: boolean }>(ADD_CHECKPOINT, [
          ...keyOf(owner, taskId),
          ...values,
        ]);
        if (rows[0]?.is_written === true) return 'stored';
        return rows[0]?.is_found === true ? 'full' : 'gone';
      }),
    checkpoints: (owner, taskId, limit) =>
      inDatabase('list the checkpoints of the context', async () => {
        const { rows } = await pool.query<ContextRow<ContextCheckpointFacts>>(
          `select facts ${from} ${TASK} order by sequence desc limit $4`,
          [...keyOf(owner, taskId), limit],
        );
        return rows.map(({ facts }) => facts);
      }),
    checkpoint: (owner, taskId, checkpointId) =>
      inDatabase('read the checkpoint of the context', async () => {
        const { rows } = await pool.query<ContextRow<ContextCheckpointFacts>>(
          `select facts, context ${from} ${TASK} and checkpoint_id = $4`,
          [...keyOf(owner, taskId), keyText(checkpointId)],
        );
        return rows[0] === undefined ? undefined : { ...rows[0].facts, context: rows[0].context };
      }),
  };
}

const ownerOf = (owner: CallOwner): readonly string[] => [
  keyText(owner.tenantId),
  keyText(JSON.stringify(ownerNames(owner))),
];

/** Tenant, owner and task: the key of every row. */
const keyOf = (owner: CallOwner, taskId: string): readonly string[] => [...ownerOf(owner), keyText(taskId)];
