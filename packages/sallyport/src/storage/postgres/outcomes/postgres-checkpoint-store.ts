import type { Pool, QueryResultRow } from 'pg';
import type {
  CheckpointFacts,
  CheckpointLine,
  CheckpointStore,
  StoredCheckpoint,
} from '../../../bridges/checkpoint-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';

const HAS_STATE = '(state is not null or object_name is not null)';

/**
 * One statement: the line's row serialises the writers, and only its holder follows the newest sequence. The lock keeps
 * what it is the difference from.
 */
const PUT = `
with parent as materialized (
  select from sallyport.checkpoints where tenant_id = $1 and checkpoint_id = $7::text and ${HAS_STATE} for key share
), begun as (
  insert into sallyport.checkpoint_lines (tenant_id, line_id, holder, newest)
  select $1::text, $2::text, $3::text, $4::bigint where $4::bigint = 1
  on conflict do nothing
  returning 1
), followed as (
  update sallyport.checkpoint_lines set newest = $4, changed_at = now()
  where tenant_id = $1 and line_id = $2 and holder = $3 and newest = $4::bigint - 1
    and ($7::text is null or exists (select from parent))
  returning 1
)
insert into sallyport.checkpoints
  (tenant_id, line_id, invocation_id, sequence, checkpoint_id, checkpoint_type, parent_id, form, state, facts, saved_at, expires_at,
    archive_at, object_name, object_size, object_sha256, reporter)
select $1, $2, $3, $4, $5::text, $6::text, $7::text, $8::text, $9::bytea, $10::json,
  to_timestamp($11::double precision / 1000), to_timestamp($12::double precision / 1000),
  to_timestamp($13::double precision / 1000), $14::text, $15::bigint, $16::text, $17::text
where exists (select from begun) or exists (select from followed)`;

/** Columns of everything but the state. */
export const FACTS = `facts, sequence::text as place, extract(epoch from expires_at) * 1000 as expires_ms,
  extract(epoch from archive_at) * 1000 as archive_ms, extract(epoch from archived_at) * 1000 as archived_ms`;

/** A row with these columns. */
export interface FactsRow extends QueryResultRow {
  readonly facts: Omit<CheckpointFacts, 'sequence' | 'expiresAt' | 'archiveAt' | 'archivedAt'>;
  readonly place: string;
  readonly expires_ms: string | null;
  readonly archive_ms: string | null;
  readonly archived_ms: string | null;
}

interface StateRow extends FactsRow {
  readonly form: 'plain' | 'zstd' | 'delta';
  readonly state: Buffer | null;
  readonly object_name: string | null;
  readonly object_size: string;
  readonly object_sha256: string;
}

const STORED = `${FACTS}, form, state, object_name, object_size::text, object_sha256`;

const ANCESTORS = `
with recursive chain as (
  select parent_id as ancestor, 1 as place_in_chain from sallyport.checkpoints where tenant_id = $1 and checkpoint_id = $2
  union all
  select parent_id, place_in_chain + 1 from chain join sallyport.checkpoints on checkpoint_id = ancestor
  where tenant_id = $1 and place_in_chain < $3)
select ${STORED} from chain join sallyport.checkpoints on checkpoint_id = ancestor where tenant_id = $1 order by place_in_chain`;

interface LineRow extends QueryResultRow {
  readonly line_id: string;
  readonly holder: string;
  readonly newest: string;
}

const hasState = (table: string): string => `(${table}.state is not null or ${table}.object_name is not null)`;

const REMOVE = `
with recursive gone as (
  select checkpoint_id from sallyport.checkpoints where tenant_id = $1 and checkpoint_id = $2
  union
  select child.checkpoint_id from sallyport.checkpoints child join gone on child.parent_id = gone.checkpoint_id
  where child.tenant_id = $1)
delete from sallyport.checkpoints where tenant_id = $1 and checkpoint_id in (select checkpoint_id from gone)`;

const REMOVE_AFTER_CHANGES = `
delete from sallyport.checkpoints where tenant_id = $1 and invocation_id = $2 and facts ->> 'afterChanges' = 'true'`;

/** Only what has no state any more has expired for good: others are stored as the difference from it until then. */
const EMPTY_EXPIRED = `
with due as materialized (
  select tenant_id, checkpoint_id from sallyport.checkpoints it
  where expires_at <= now() and ${HAS_STATE} and not exists (
    select from sallyport.checkpoints child
    where child.tenant_id = it.tenant_id and child.parent_id = it.checkpoint_id and ${hasState('child')})
  order by expires_at limit $1 for update skip locked)
update sallyport.checkpoints set state = null, object_name = null
where (tenant_id, checkpoint_id) in (select * from due)`;

const FORGET_EXPIRED = `
with due as materialized (
  select tenant_id, checkpoint_id from sallyport.checkpoints
  where expires_at <= now() - make_interval(secs => $2::double precision / 1000) and not ${HAS_STATE}
  order by expires_at limit $1 for update skip locked)
delete from sallyport.checkpoints where (tenant_id, checkpoint_id) in (select * from due)`;

const FORGET_LINES = `
with due as materialized (
  select tenant_id, line_id from sallyport.checkpoint_lines line
  where changed_at < now() - make_interval(secs => $2::double precision / 1000) and not exists (
    select from sallyport.checkpoints saved where saved.tenant_id = line.tenant_id and saved.line_id = line.line_id)
  limit $1 for update skip locked)
delete from sallyport.checkpoint_lines where (tenant_id, line_id) in (select * from due)`;

/** Checkpoints in PostgreSQL (STA-01). */
export function postgresCheckpointStore(pool: Pool): CheckpointStore {
  return { ...linesIn(pool), ...checkpointsIn(pool), ...endsIn(pool), ...reportsIn(pool) };
}

/** Runs a statement. @returns the number of changed rows */
const changed = (pool: Pool, what: string, text: string, values: readonly unknown[]): Promise<number> =>
  inDatabase(what, async () => (await pool.query(text, [...values])).rowCount ?? 0);

function linesIn(pool: Pool): Pick<CheckpointStore, 'line' | 'lineOf' | 'take'> {
  const find = (where: string, tenantId: string, key: string): Promise<CheckpointLine | undefined> =>
    inDatabase('find the work of the call', async () => {
      const { rows } = await pool.query<LineRow>(
        `select line_id, holder, newest::text from sallyport.checkpoint_lines where tenant_id = $1 and ${where}`,
        [keyText(tenantId), keyText(key)],
      );
      return rows[0] === undefined ? undefined : lineOf(rows[0]);
    });
  return {
    line: (tenantId, lineId) => find('line_id = $2', tenantId, lineId),
    lineOf: (tenantId, invocationId) =>
      find(
        `line_id = (
          select line_id from sallyport.checkpoint_lines where tenant_id = $1 and holder = $2
          union all
          (select line_id from sallyport.checkpoints where tenant_id = $1 and invocation_id = $2 limit 1)
          limit 1)`,
        tenantId,
        invocationId,
      ),
    take: async (tenantId, lineId, from, to) =>
      (await changed(
        pool,
        'take over the work',
        `update sallyport.checkpoint_lines set holder = $4, changed_at = now()
        where tenant_id = $1 and line_id = $2 and holder = $3`,
        [tenantId, lineId, from, to].map(keyText),
      )) > 0,
  };
}

function checkpointsIn(pool: Pool): Pick<CheckpointStore, 'put' | 'find' | 'ancestors' | 'list' | 'remove'> {
  return {
    put: async (checkpoint, reporter) => {
      const values = [...valuesOf(checkpoint), reporter === undefined ? null : keyText(reporter)];
      return (await changed(pool, 'store the checkpoint', PUT, values)) > 0;
    },
    find: (tenantId, checkpointId) =>
      inDatabase('find the checkpoint', async () => {
        const { rows } = await pool.query<StateRow>(
          `select ${STORED} from sallyport.checkpoints where tenant_id = $1 and checkpoint_id = $2`,
          [keyText(tenantId), keyText(checkpointId)],
        );
        return rows[0] === undefined ? undefined : storedOf(rows[0]);
      }),
    ancestors: (tenantId, checkpointId, limit) =>
      inDatabase('find the checkpoints before it', async () => {
        const { rows } = await pool.query<StateRow>(ANCESTORS, [keyText(tenantId), keyText(checkpointId), limit]);
        return rows.map(storedOf);
      }),
    list: (tenantId, lineId, limit, before) =>
      inDatabase('list the checkpoints', async () => {
        const { rows } = await pool.query<FactsRow>(
          `select ${FACTS} from sallyport.checkpoints
          where tenant_id = $1 and line_id = $2 and sequence < $3 and ${HAS_STATE}
            and (expires_at is null or expires_at > now())
          order by sequence desc limit $4`,
          [keyText(tenantId), keyText(lineId), before ?? Number.MAX_SAFE_INTEGER, limit],
        );
        return rows.map(factsOf);
      }),
    remove: async (tenantId, checkpointId) =>
      (await changed(pool, 'remove the checkpoint', REMOVE, [keyText(tenantId), keyText(checkpointId)])) > 0,
  };
}

type Ends = 'keepUntil' | 'removeAfterChanges' | 'lineEnded' | 'expire' | 'forgetLines';

function endsIn(pool: Pool): Pick<CheckpointStore, Ends> {
  return {
    keepUntil: async (tenantId, checkpointId, expiresAt) => {
      await changed(
        pool,
        'keep the checkpoint',
        `update sallyport.checkpoints set expires_at = to_timestamp($3::double precision / 1000)
        where tenant_id = $1 and checkpoint_id = $2 and expires_at is not null`,
        [keyText(tenantId), keyText(checkpointId), expiresAt],
      );
    },
    removeAfterChanges: async (tenantId, invocationId) => {
      const call = [tenantId, invocationId].map(keyText);
      await changed(pool, 'remove checkpoints of what is taken back', REMOVE_AFTER_CHANGES, call);
    },
    lineEnded: async (tenantId, lineId, expiresAt) => {
      await changed(
        pool,
        'end the checkpoints of the call',
        expiresAt === undefined
          ? `delete from sallyport.checkpoints where tenant_id = $1 and line_id = $2 and checkpoint_type = 'micro'`
          : `update sallyport.checkpoints set archive_at = null,
              expires_at = least(expires_at, to_timestamp($3::double precision / 1000))
            where tenant_id = $1 and line_id = $2 and checkpoint_type = 'macro' and archived_at is null`,
        [keyText(tenantId), keyText(lineId), ...(expiresAt === undefined ? [] : [expiresAt])],
      );
    },
    expire: async (forgetMs, limit) => {
      const emptied = await changed(pool, 'drop expired states', EMPTY_EXPIRED, [limit]);
      return emptied + (await changed(pool, 'forget expired checkpoints', FORGET_EXPIRED, [limit, forgetMs]));
    },
    forgetLines: (unchangedMs, limit) =>
      changed(pool, 'forget work without checkpoints', FORGET_LINES, [limit, unchangedMs]),
  };
}

function reportsIn(pool: Pool): Pick<CheckpointStore, 'unreported' | 'reported'> {
  return {
    unreported: (reporter, limit) =>
      inDatabase('find checkpoints to report', async () => {
        const { rows } = await pool.query<FactsRow>(
          `select ${FACTS} from sallyport.checkpoints where reporter = $1
          order by saved_at, tenant_id, line_id, sequence limit $2`,
          [keyText(reporter), limit],
        );
        return rows.map(factsOf);
      }),
    reported: async (tenantId, lineId, sequence) => {
      await changed(
        pool,
        'note what is reported',
        `update sallyport.checkpoints set reporter = null
        where tenant_id = $1 and line_id = $2 and sequence <= $3 and reporter is not null`,
        [keyText(tenantId), keyText(lineId), sequence],
      );
    },
  };
}

function valuesOf({ packed, sequence, expiresAt, archiveAt, ...facts }: StoredCheckpoint): readonly unknown[] {
  const { tenantId } = facts.owner;
  return [
    keyText(tenantId),
    keyText(facts.lineId),
    keyText(facts.invocationId),
    sequence,
    keyText(facts.checkpointId),
    facts.type,
    facts.parentId === undefined ? null : keyText(facts.parentId),
    packed?.form ?? 'plain',
    stateBytesOf(packed),
    JSON.stringify(facts),
    facts.savedAt,
    expiresAt ?? null,
    archiveAt ?? null,
    ...objectColumnsOf(packed),
  ];
}

/** The column `state`. */
export const stateBytesOf = (packed: StoredCheckpoint['packed']): Buffer | null =>
  packed === undefined || 'object' in packed ? null : Buffer.from(packed.bytes);

/** The columns of the object, in the order name, size, hash. */
export const objectColumnsOf = (packed: StoredCheckpoint['packed']): readonly (string | number | null)[] =>
  packed === undefined || !('object' in packed)
    ? [null, null, null]
    : [packed.object.name, packed.object.size, packed.object.sha256];

/** The facts of a checkpoint from its row. */
export function factsOf({ facts, place, expires_ms, archive_ms, archived_ms }: FactsRow): CheckpointFacts {
  return {
    ...facts,
    sequence: Number(place),
    ...(expires_ms === null ? {} : { expiresAt: Number(expires_ms) }),
    ...(archive_ms === null ? {} : { archiveAt: Number(archive_ms) }),
    ...(archived_ms === null ? {} : { archivedAt: Number(archived_ms) }),
  };
}

function storedOf(row: StateRow): StoredCheckpoint {
  const facts = factsOf(row);
  const { form, state, object_name: name, object_sha256 } = row;
  const { size, sha256 } = facts;
  const packed = { form, size, sha256 };
  if (state !== null) return { ...facts, packed: { ...packed, bytes: state } };
  if (name === null) return { ...facts, packed: undefined };
  return { ...facts, packed: { ...packed, object: { name, size: Number(row.object_size), sha256: object_sha256 } } };
}

const lineOf = ({ line_id, holder, newest }: LineRow): CheckpointLine => ({
  lineId: keyOfText(line_id),
  holder: keyOfText(holder),
  newest: Number(newest),
});
