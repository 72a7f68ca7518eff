import type { Pool, QueryResultRow } from 'pg';
import type {
  StoredThreadState,
  ThreadPlace,
  ThreadQuery,
  ThreadStore,
  ThreadWrite,
} from '../../../bridges/thread-store.port.ts';
import { type CallOwner, ownerNames } from '../../../domain/invocation/call-owner.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import { objectColumnsOf, stateBytesOf } from './postgres-checkpoint-store.ts';

const PUT = `
insert into sallyport.thread_states
  (tenant_id, owner, thread_id, namespace, checkpoint_id, parent_id, state_type, form, state, size, sha256,
    object_name, object_size, object_sha256, metadata_type, metadata)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
on conflict (tenant_id, owner, thread_id, namespace, checkpoint_id) do update set
  parent_id = excluded.parent_id, state_type = excluded.state_type, form = excluded.form, state = excluded.state,
  size = excluded.size, sha256 = excluded.sha256, object_name = excluded.object_name, object_size = excluded.object_size,
  object_sha256 = excluded.object_sha256, metadata_type = excluded.metadata_type, metadata = excluded.metadata`;

const WRITE = `
insert into sallyport.thread_writes
  (tenant_id, owner, thread_id, namespace, checkpoint_id, task_id, index, task_path, channel, value_type, value)
select $1, $2, $3, $4, $5, * from unnest($6::text[], $7::integer[], $8::text[], $9::text[], $10::text[], $11::bytea[])
on conflict (tenant_id, owner, thread_id, namespace, checkpoint_id, task_id, index) do update set
  task_path = excluded.task_path, channel = excluded.channel, value_type = excluded.value_type, value = excluded.value
where thread_writes.index < 0`;

const LIST = `
select thread_id, namespace, checkpoint_id, parent_id, state_type, form, state, size::text, sha256,
  object_name, object_size::text, object_sha256, metadata_type, metadata
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

const REMOVE = `
with writes as (
  delete from sallyport.thread_writes where tenant_id = $1 and owner = $2 and thread_id = $3)
delete from sallyport.thread_states where tenant_id = $1 and owner = $2 and thread_id = $3`;

interface PlaceRow extends QueryResultRow {
  readonly thread_id: string;
  readonly namespace: string;
  readonly checkpoint_id: string;
}

interface StateRow extends PlaceRow {
  readonly parent_id: string | null;
  readonly state_type: string;
  readonly form: 'plain' | 'zstd';
  readonly state: Buffer | null;
  readonly size: string;
  readonly sha256: string;
  readonly object_name: string | null;
  readonly object_size: string;
  readonly object_sha256: string;
  readonly metadata_type: string;
  readonly metadata: Buffer;
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
    put: async (owner, state) => void (await run('store the state of a thread', PUT, valuesOf(owner, state))),
    async write(owner, place, writes) {
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
      const byPlace = Map.groupBy(written, keyOf);
      return rows.map((row) => ({ ...storedOf(row), writes: (byPlace.get(keyOf(row)) ?? []).map(writeOf) }));
    },
    remove: async (owner, threadId) =>
      void (await run('remove a thread', REMOVE, [...ownerOf(owner), keyText(threadId)])),
  };
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

function valuesOf(owner: CallOwner, state: StoredThreadState): readonly unknown[] {
  const { parentId, type, packed, metadata } = state;
  return [
    ...ownerOf(owner),
    ...placeOf(state),
    ...[orNull(parentId), type, packed.form, stateBytesOf(packed), packed.size, packed.sha256],
    ...[...objectColumnsOf(packed), metadata.type, Buffer.from(metadata.bytes)],
  ];
}

const keyOf = ({ thread_id, namespace, checkpoint_id }: PlaceRow): string =>
  JSON.stringify([thread_id, namespace, checkpoint_id]);

function storedOf(row: StateRow): StoredThreadState {
  const { form, sha256, state, object_name: name, object_sha256 } = row;
  const packed = { form, size: Number(row.size), sha256 };
  return {
    threadId: keyOfText(row.thread_id),
    namespace: keyOfText(row.namespace),
    checkpointId: keyOfText(row.checkpoint_id),
    ...(row.parent_id === null ? {} : { parentId: keyOfText(row.parent_id) }),
    type: row.state_type,
    packed:
      name === null
        ? { ...packed, bytes: state ?? Buffer.alloc(0) }
        : { ...packed, object: { name, size: Number(row.object_size), sha256: object_sha256 } },
    metadata: { type: row.metadata_type, bytes: row.metadata },
  };
}

const writeOf = ({ task_id, task_path, index, channel, value_type: type, value: bytes }: WriteRow): ThreadWrite => ({
  taskId: keyOfText(task_id),
  taskPath: keyOfText(task_path),
  index,
  channel: keyOfText(channel),
  value: { type, bytes },
});
