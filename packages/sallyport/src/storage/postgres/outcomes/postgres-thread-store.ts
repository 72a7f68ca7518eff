import type { Pool, QueryResultRow } from 'pg';
import {
  type StoredThreadState,
  type StoredValue,
  THREAD_ROW_BYTES,
  type ThreadPlace,
  type ThreadQuery,
  type ThreadRecord,
  type ThreadStore,
  type ThreadWrite,
} from '../../../bridges/thread-store.port.ts';
import { type CallOwner, ownerNames } from '../../../domain/invocation/call-owner.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import { objectColumnsOf, stateBytesOf } from './postgres-checkpoint-store.ts';

/** What is stored in a thread is added to what it takes; a state that replaces another counts for what it has more. */
const COUNTED = (bytes: string, where = 'true') => `
insert into sallyport.threads (tenant_id, owner, thread_id, bytes) select $1, $2, $3, ${bytes} where ${where}
on conflict (tenant_id, owner, thread_id) do update set bytes = threads.bytes + excluded.bytes, changed_at = now()`;

/**
 * Stores nothing of a state that continues another when a value that is not given is not there: it went with its thread. The
 * thread is locked, so that no removal comes between.
 */
const PUT = `
with thread as materialized (
  select from sallyport.threads where tenant_id = $1 and owner = $2 and thread_id = $3 for update
), complete as materialized (
  select where $6::text is null or cardinality($22::text[]) = 0 or exists (select from thread) and not exists (
    select from unnest($22::text[], $23::text[]) as named (channel, version) where not exists (
      select from sallyport.thread_values held
      where tenant_id = $1 and owner = $2 and thread_id = $3 and namespace = $4
        and held.channel = named.channel and held.version = named.version))
), values as (
  insert into sallyport.thread_values (tenant_id, owner, thread_id, namespace, channel, version, value_type, form, value, size,
    sha256, object_name, object_size, object_sha256)
  select $1, $2, $3, $4, given.* from complete, unnest($12::text[], $13::text[], $14::text[], $15::text[], $16::bytea[], $17::bigint[],
    $18::text[], $19::text[], $20::bigint[], $21::text[]) as given
  on conflict do nothing
  returning coalesce(object_size, octet_length(value)) + ${THREAD_ROW_BYTES} as bytes
), replaced as (
  select octet_length(state) + octet_length(metadata) + ${THREAD_ROW_BYTES} as bytes from sallyport.thread_states
  where tenant_id = $1 and owner = $2 and thread_id = $3 and namespace = $4 and checkpoint_id = $5
), stored as (
  insert into sallyport.thread_states
    (tenant_id, owner, thread_id, namespace, checkpoint_id, parent_id, state_type, state, metadata_type, metadata, versions)
  select $1, $2, $3, $4, $5, $6, $7, $8::bytea, $9, $10::bytea, $11::json from complete
  on conflict (tenant_id, owner, thread_id, namespace, checkpoint_id) do update set
    parent_id = excluded.parent_id, state_type = excluded.state_type, state = excluded.state,
    metadata_type = excluded.metadata_type, metadata = excluded.metadata, versions = excluded.versions
  returning octet_length(state) + octet_length(metadata) + ${THREAD_ROW_BYTES} as bytes
)${COUNTED(
  `(select sum(bytes) from stored) + (select coalesce(sum(bytes), 0) from values)
  - (select coalesce(sum(bytes), 0) from replaced)`,
  'exists (select from stored)',
)}
returning thread_id`;

const WRITE = `
with given as (
  select * from unnest($6::text[], $7::integer[], $8::text[], $9::text[], $10::text[], $11::bytea[])
    as given (task_id, index, task_path, channel, value_type, value)
), replaced as (
  select octet_length(was.value) + ${THREAD_ROW_BYTES} as bytes from sallyport.thread_writes was join given using (task_id, index)
  where tenant_id = $1 and owner = $2 and thread_id = $3 and namespace = $4 and checkpoint_id = $5 and index < 0
), stored as (
  insert into sallyport.thread_writes
    (tenant_id, owner, thread_id, namespace, checkpoint_id, task_id, index, task_path, channel, value_type, value)
  select $1, $2, $3, $4, $5, * from given
  on conflict (tenant_id, owner, thread_id, namespace, checkpoint_id, task_id, index) do update set
    task_path = excluded.task_path, channel = excluded.channel, value_type = excluded.value_type, value = excluded.value
  where thread_writes.index < 0
  returning octet_length(value) + ${THREAD_ROW_BYTES} as bytes
)${COUNTED('(select coalesce(sum(bytes), 0) from stored) - (select coalesce(sum(bytes), 0) from replaced)')}`;

const LIST = `
select thread_id, namespace, checkpoint_id, parent_id, state_type, state, metadata_type, metadata, versions
from sallyport.thread_states
where tenant_id = $1 and owner = $2
  and ($3::text is null or thread_id = $3) and ($4::text is null or namespace = $4)
  and ($5::text is null or checkpoint_id = $5) and ($6::text is null or checkpoint_id < $6)
  and ($7::text is null or checkpoint_id < $7 or (checkpoint_id = $7 and (thread_id, namespace) > ($8, $9)))
order by checkpoint_id desc, thread_id, namespace limit $10`;

const WRITES = `
select thread_id, namespace, checkpoint_id, task_id, index, task_path, channel, value_type, value
from sallyport.thread_writes
where tenant_id = $1 and owner = $2 and (thread_id, namespace, checkpoint_id) in
  (select * from unnest($3::text[], $4::text[], $5::text[]))
order by task_path, task_id, index`;

/** Values of the versions that states have: each once, however many of the states have it. */
const VALUES = `
select thread_id, namespace, channel, version, value_type, form, value, size::text, sha256, object_name, object_size::text, object_sha256
from sallyport.thread_values
where tenant_id = $1 and owner = $2 and (thread_id, namespace, channel, version) in
  (select * from unnest($3::text[], $4::text[], $5::text[], $6::text[]))`;

const USED = `
select count(*) filter (where thread_id <> $3) as others, coalesce(sum(bytes), 0) as bytes
from sallyport.threads where tenant_id = $1 and owner = $2`;

/** States, values and writes of a thread go with it. */
const REMOVE = 'delete from sallyport.threads where tenant_id = $1 and owner = $2 and thread_id = $3';

const FORGET = `
with due as materialized (
  select tenant_id, owner, thread_id from sallyport.threads where changed_at < to_timestamp($1::double precision / 1000)
  order by changed_at limit $2 for update skip locked)
delete from sallyport.threads where (tenant_id, owner, thread_id) in (select * from due)`;

interface PlaceRow extends QueryResultRow {
  readonly thread_id: string;
  readonly namespace: string;
  readonly checkpoint_id: string;
}

interface StateRow extends PlaceRow {
  readonly parent_id: string | null;
  readonly state_type: string;
  readonly state: Buffer;
  readonly metadata_type: string;
  readonly metadata: Buffer;
  readonly versions: Readonly<Record<string, string>>;
}

interface ValueRow extends QueryResultRow {
  readonly thread_id: string;
  readonly namespace: string;
  readonly channel: string;
  readonly version: string;
  readonly value_type: string;
  readonly form: 'plain' | 'zstd';
  readonly value: Buffer | null;
  readonly size: string;
  readonly sha256: string;
  readonly object_name: string | null;
  readonly object_size: string;
  readonly object_sha256: string;
}

interface UsedRow extends QueryResultRow {
  readonly others: string;
  readonly bytes: string;
}

interface WriteRow extends PlaceRow {
  readonly task_id: string;
  readonly index: number;
  readonly task_path: string;
  readonly channel: string;
  readonly value_type: string;
  readonly value: Buffer;
}

/** States of threads in PostgreSQL (STA-07). */
export function postgresThreadStore(pool: Pool): ThreadStore {
  const run = <Row extends QueryResultRow>(action: string, text: string, values: readonly unknown[]): Promise<Row[]> =>
    inDatabase(action, async () => (await pool.query<Row>(text, [...values])).rows);
  return {
    put: async (owner, state) => (await run('store the state of a thread', PUT, valuesOf(owner, state))).length > 0,
    async write(owner, place, given) {
      const writes = eachOnce(given);
      if (writes.length === 0) return;
      const columns = [
        writes.map(({ taskId }) => keyText(taskId)),
        writes.map(({ index }) => index),
        writes.map(({ taskPath }) => keyText(taskPath)),
        writes.map(({ channel }) => keyText(channel)),
        writes.map(({ value }) => value.type),
        writes.map(({ value }) => Buffer.from(value.bytes)),
      ];
      await run('store writes of a thread', WRITE, [...ownerOf(owner), ...placeOf(place), ...columns]);
    },
    async list(owner, query) {
      const rows = await run<StateRow>('list the states of threads', LIST, [...ownerOf(owner), ...wantedOf(query)]);
      if (rows.length === 0) return [];
      const places = [
        rows.map((row) => row.thread_id),
        rows.map((row) => row.namespace),
        rows.map((row) => row.checkpoint_id),
      ];
      const written = await run<WriteRow>('list the writes of threads', WRITES, [...ownerOf(owner), ...places]);
      const wanted = rows.flatMap(versionsOf);
      const columns = [0, 1, 2, 3].map((at) => wanted.map((names) => names[at]));
      const values = await run<ValueRow>('read the values of threads', VALUES, [...ownerOf(owner), ...columns]);
      const byPlace = Map.groupBy(written, keyOf);
      const byVersion = new Map(values.map((row) => [keyOfVersion(row), row]));
      // Where values are missing, the thread may have been removed after the first of these statements.
      const left = wanted.every((names) => byVersion.has(JSON.stringify(names)))
        ? rows
        : await run<StateRow>('list the states of threads', LIST, [...ownerOf(owner), ...wantedOf(query)]);
      const there = new Set(left.map(keyOf));
      return rows
        .filter((row) => there.has(keyOf(row)))
        .map((row) => ({
          ...recordOf(row),
          values: versionsOf(row).flatMap((names) => {
            const value = byVersion.get(JSON.stringify(names));
            return value === undefined ? [] : [storedOf(value)];
          }),
          writes: (byPlace.get(keyOf(row)) ?? []).map(writeOf),
        }));
    },
    async used(owner, threadId) {
      const [row] = await run<UsedRow>('count the threads', USED, [...ownerOf(owner), keyText(threadId)]);
      return { others: Number(row?.others), bytes: Number(row?.bytes) };
    },
    remove: async (owner, threadId) =>
      void (await run('remove a thread', REMOVE, [...ownerOf(owner), keyText(threadId)])),
    forget: (changedBefore, limit) =>
      inDatabase('forget old threads', async () => (await pool.query(FORGET, [changedBefore, limit])).rowCount ?? 0),
  };
}

/** One statement stores a row once: of several writes at one place, the one that would be there after them all. */
function eachOnce(writes: readonly ThreadWrite[]): readonly ThreadWrite[] {
  const byPlace = new Map<string, ThreadWrite>();
  for (const write of writes) {
    const key = JSON.stringify([write.taskId, write.index]);
    if (write.index < 0 || !byPlace.has(key)) byPlace.set(key, write);
  }
  return [...byPlace.values()];
}

const ownerOf = (owner: CallOwner): readonly string[] => [
  keyText(owner.tenantId),
  keyText(JSON.stringify(ownerNames(owner))),
];

const placeOf = ({ threadId, namespace, checkpointId }: ThreadPlace): readonly string[] =>
  [threadId, namespace, checkpointId].map(keyText);

const orNull = (text: string | undefined): string | null => (text === undefined ? null : keyText(text));

const wantedOf = ({ threadId, namespace, checkpointId, before, after, limit }: ThreadQuery): readonly unknown[] => [
  ...[threadId, namespace, checkpointId, before].map(orNull),
  ...[after?.checkpointId, after?.threadId, after?.namespace].map(orNull),
  limit,
];

function valuesOf(owner: CallOwner, place: StoredThreadState): readonly unknown[] {
  const { parentId, state, metadata, versions, values } = place;
  const objects = values.map(({ packed }) => objectColumnsOf(packed));
  const given = new Set(values.map(({ channel, version }) => JSON.stringify([channel, version])));
  const before = Object.entries(versions).filter((named) => !given.has(JSON.stringify(named)));
  return [
    ...[...ownerOf(owner), ...placeOf(place), orNull(parentId)],
    ...[state.type, Buffer.from(state.bytes), metadata.type, Buffer.from(metadata.bytes), JSON.stringify(versions)],
    values.map(({ channel }) => keyText(channel)),
    values.map(({ version }) => keyText(version)),
    values.map(({ type }) => type),
    values.map(({ packed }) => packed.form),
    values.map(({ packed }) => stateBytesOf(packed)),
    values.map(({ packed }) => packed.size),
    values.map(({ packed }) => packed.sha256),
    ...[0, 1, 2].map((at) => objects.map((columns) => columns[at])),
    ...[0, 1].map((at) => before.map((named) => keyText(named[at] ?? ''))),
  ];
}

/** Names of the values of a state, as the table has them: thread, namespace, channel, version. */
const versionsOf = ({ thread_id, namespace, versions }: StateRow): readonly (readonly string[])[] =>
  Object.entries(versions).map(([channel, version]) => [thread_id, namespace, keyText(channel), keyText(version)]);

const keyOfVersion = ({ thread_id, namespace, channel, version }: ValueRow): string =>
  JSON.stringify([thread_id, namespace, channel, version]);

const keyOf = ({ thread_id, namespace, checkpoint_id }: PlaceRow): string =>
  JSON.stringify([thread_id, namespace, checkpoint_id]);

const recordOf = (row: StateRow): ThreadRecord => ({
  threadId: keyOfText(row.thread_id),
  namespace: keyOfText(row.namespace),
  checkpointId: keyOfText(row.checkpoint_id),
  ...(row.parent_id === null ? {} : { parentId: keyOfText(row.parent_id) }),
  state: { type: row.state_type, bytes: row.state },
  metadata: { type: row.metadata_type, bytes: row.metadata },
  versions: row.versions,
});

function storedOf(row: ValueRow): StoredValue {
  const { form, sha256, value, object_name: name, object_sha256 } = row;
  const packed = { form, size: Number(row.size), sha256 };
  return {
    channel: keyOfText(row.channel),
    version: keyOfText(row.version),
    type: row.value_type,
    packed:
      name === null
        ? { ...packed, bytes: value ?? Buffer.alloc(0) }
        : { ...packed, object: { name, size: Number(row.object_size), sha256: object_sha256 } },
  };
}

const writeOf = ({ task_id, task_path, index, channel, value_type: type, value: bytes }: WriteRow): ThreadWrite => ({
  taskId: keyOfText(task_id),
  taskPath: keyOfText(task_path),
  index,
  channel: keyOfText(channel),
  value: { type, bytes },
});
