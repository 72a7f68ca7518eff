import { randomBytes } from 'node:crypto';
import { KiB, MiB } from '@sallyport/std/bytes';
import { beforeEach, expect, test } from 'vitest';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryObjectStore } from '../../../test/stores/outcomes/memory-object-store.ts';
import { memoryThreadStore } from '../../../test/stores/outcomes/memory-thread-store.ts';
import { OWNER } from '../run/runs.fixture.ts';
import { THREAD_ROW_BYTES, type ThreadStore } from '../thread-store.port.ts';
import { createThreads, type ThreadParts, type Threads, type ThreadWrite, type TypedBytes } from '../threads.ts';

const NOW = 1_800_000_000_000;
const STATE_BYTES_MAX = 100;

let store: ThreadStore;
let objects: Map<string, Uint8Array>;
beforeEach(() => {
  store = memoryThreadStore(() => NOW);
  objects = new Map();
});

function threadsWith(settings: Partial<ThreadParts['settings']> = {}, stateBytesMax = STATE_BYTES_MAX): Threads {
  const archive = memoryCheckpointStore(() => NOW);
  return createThreads({
    ...{ store, archive, objects: memoryObjectStore(objects), clock: { now: () => NOW, monotonic: () => NOW } },
    stateBytesMax,
    settings: { threadsMax: 10, bytesMax: 10 * MiB, ...settings },
  });
}

const typed = (bytes: number | Uint8Array, type = 'json'): TypedBytes => ({
  type,
  bytes: typeof bytes === 'number' ? Buffer.alloc(bytes, 'x') : bytes,
});
const state = (threadId: string, more: { state?: TypedBytes; metadata?: TypedBytes; value?: TypedBytes } = {}) => ({
  ...{
    threadId,
    namespace: '',
    checkpointId: 'one',
    state: more.state ?? typed(2),
    metadata: more.metadata ?? typed(3),
  },
  versions: { steps: '1' },
  values: [{ channel: 'steps', version: '1', value: more.value ?? typed(5) }],
});
const written = (value: TypedBytes): ThreadWrite => ({ taskId: 't', taskPath: '', index: 0, channel: 'steps', value });
const place = (threadId: string) => ({ threadId, namespace: '', checkpointId: 'one' });

test('STA-07.2 a state comes back with its values and writes, a large value as an object of its tenant', async () => {
  const threads = threadsWith({}, 2 * MiB);
  const [large, small] = [randomBytes(MiB + KiB), typed(Buffer.from('[1]'), 'msgpack')];
  await threads.save(OWNER, state('work', { value: typed(large, 'bytes') }));
  await threads.write(OWNER, place('work'), [written(small)]);
  const [found, ...others] = await threads.list(OWNER, { threadId: 'work', limit: 9 });
  expect(others).toEqual([]);
  expect(found).toMatchObject({ ...place('work'), versions: { steps: '1' }, state: typed(2), metadata: typed(3) });
  expect(found?.values).toMatchObject([{ channel: 'steps', version: '1', value: { type: 'bytes' } }]);
  expect(large.equals(found?.values[0]?.value.bytes ?? Buffer.of())).toBe(true);
  expect(found?.writes).toEqual([written(small)]);
  expect([...objects.keys()].map((name) => name.split('/')[0])).toEqual(['acme']);
  await threads.remove(OWNER, 'work');
  expect(await threads.list(OWNER, { limit: 9 })).toEqual([]);
});

test('STA-07 a value that was changed is a damaged state, E3703', async () => {
  const threads = threadsWith({}, 2 * MiB);
  await threads.save(OWNER, state('work', { value: typed(randomBytes(MiB + KiB)) }));
  for (const bytes of objects.values()) bytes[9] = (bytes[9] ?? 0) ^ 1;
  await expect(threads.list(OWNER, { limit: 9 })).rejects.toMatchObject({ code: 'E3703' });
});

test('STA-07.3 a state, its metadata, a value and a write each have a bound, and nothing of a refused one is stored', async () => {
  const threads = threadsWith();
  const [most, more] = [typed(STATE_BYTES_MAX), typed(STATE_BYTES_MAX + 1)];
  const refused = {
    code: 'E3102',
    failure: { details: { limit: 'checkpoints.state_bytes_max', max: STATE_BYTES_MAX } },
  };
  for (const one of [{ state: more }, { metadata: more }, { value: more }])
    await expect(threads.save(OWNER, state('work', one))).rejects.toMatchObject(refused);
  await expect(threads.write(OWNER, place('work'), [written(most), written(more)])).rejects.toMatchObject(refused);
  expect(await store.used(OWNER, 'none')).toEqual({ others: 0, bytes: 0 });
  await threads.save(OWNER, state('work', { state: most, metadata: most, value: most }));
  await threads.write(OWNER, place('work'), [written(most)]);
});

test('STA-07.3 the threads of an owner are bounded in number and in bytes together, each state and write with its row', async () => {
  const few = threadsWith({ threadsMax: 1 });
  await few.save(OWNER, state('one'));
  await few.save(OWNER, state('one'));
  const tooMany = { code: 'E3102', failure: { details: { limit: 'threads.max', max: 1 } } };
  await expect(few.save(OWNER, state('two'))).rejects.toMatchObject(tooMany);
  await expect(few.write(OWNER, place('two'), [written(typed(1))])).rejects.toMatchObject(tooMany);
  await few.save({ ...OWNER, userDid: 'did:example:v' }, state('two'));

  const { bytes: used } = await store.used(OWNER, 'one');
  const needed = used + 7 + THREAD_ROW_BYTES;
  const short = threadsWith({ bytesMax: needed - 1 });
  const tooLarge = { code: 'E3102', failure: { details: { limit: 'threads.bytes_max', max: needed - 1 } } };
  await expect(short.write(OWNER, place('one'), [written(typed(7))])).rejects.toMatchObject(tooLarge);
  await expect(short.save(OWNER, state('one'))).rejects.toMatchObject(tooLarge);
  await threadsWith({ bytesMax: needed }).write(OWNER, place('one'), [written(typed(7))]);
  // State, metadata and value have a row each.
  const whole = (await store.used(OWNER, 'one')).bytes + 2 + 3 + 5 + 3 * THREAD_ROW_BYTES;
  await expect(threadsWith({ bytesMax: whole - 1 }).save(OWNER, state('one'))).rejects.toMatchObject({ code: 'E3102' });
  await threadsWith({ bytesMax: whole }).save(OWNER, state('one'));
});
