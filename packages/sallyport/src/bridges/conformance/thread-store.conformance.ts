import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import {
  type StoredThreadState,
  type StoredValue,
  THREAD_ROW_BYTES,
  type ThreadPlace,
  type ThreadQuery,
  type ThreadStore,
  type ThreadWrite,
  type TypedBytes,
} from '../thread-store.port.ts';

const OWNER: CallOwner = { tenantId: 'acme', agentDid: 'did:example:a', userDid: 'did:example:u' };
const OTHERS: readonly CallOwner[] = [
  { ...OWNER, tenantId: 'other' },
  { ...OWNER, agentDid: 'did:example:b' },
  { ...OWNER, userDid: 'did:example:v' },
  { ...OWNER, userDid: undefined },
];
const HOUR_MS = 3_600_000;

const typed = (text: string): TypedBytes => ({ type: 'json', bytes: new Uint8Array(Buffer.from(text)) });

function storedValue(channel: string, version: string, text: string): StoredValue {
  const { type, bytes } = typed(text);
  const packed = { form: 'plain', bytes, size: bytes.length, sha256: '0'.repeat(64) } as const;
  return { channel, version, type, packed };
}

const stateOf = (checkpointId: string, more: Partial<StoredThreadState> = {}): StoredThreadState => ({
  ...{ threadId: 'thread', namespace: '', checkpointId },
  ...{ state: typed(`"${checkpointId}"`), metadata: typed('{}'), versions: {}, values: [] },
  ...more,
});

const placeOf = ({ threadId, namespace, checkpointId }: ThreadPlace): ThreadPlace => ({
  ...{ threadId, namespace, checkpointId },
});

const written = (taskId: string, index: number, text: string, taskPath = ''): ThreadWrite => ({
  ...{ taskId, taskPath, index, channel: 'steps', value: typed(text) },
});

/** Bytes as plain arrays: stores may give them as buffers. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, one) => (one instanceof Uint8Array || one?.type === 'Buffer' ? textOf(one) : one)),
  );
const textOf = (bytes: Uint8Array | { readonly data: readonly number[] }): string =>
  Buffer.from('data' in bytes ? bytes.data : bytes).toString();

const idsOf = async (store: ThreadStore, query: Partial<ThreadQuery> = {}, owner = OWNER): Promise<string[]> =>
  (await store.list(owner, { limit: 99, ...query })).map(({ checkpointId }) => checkpointId);

/** Requirements of every ThreadStore. `open` gives an empty one each time. */
export function threadStoreConformance(test: TestCase, adapter: string, open: OpenStore<ThreadStore>): void {
  const check = casesOver(test, adapter, open);

  check('STA-07.2 a state comes back as it was stored, with the values of its versions alone', async (store) => {
    const [old, newer] = [storedValue('steps', '1', '["a"]'), storedValue('steps', '2', '["a","b"]')];
    const first = stateOf('1', { versions: { steps: '1', 'never set': '1' }, values: [old] });
    const second = stateOf('2', { parentId: '1', versions: { steps: '2' }, values: [newer] });
    for (const state of [first, second]) await store.put(OWNER, state);
    const found = await store.list(OWNER, { threadId: 'thread', limit: 9 });
    deepEqual(
      plain(found),
      plain([
        { ...second, writes: [] },
        { ...first, writes: [] },
      ]),
    );
  });

  check('STA-07.2 names are taken as they are, a NUL and half a surrogate pair too', async (store) => {
    const odd = 'a\0b\ud800';
    const place = { threadId: odd, namespace: odd, checkpointId: odd };
    const state = stateOf(odd, { ...place, parentId: odd, versions: { x: '1' }, values: [storedValue('x', '1', '1')] });
    await store.put(OWNER, state);
    await store.write(OWNER, place, [written(odd, 0, '1', odd)]);
    const [found] = await store.list(OWNER, { ...place, limit: 1 });
    deepEqual({ ...placeOf(found ?? state), parentId: found?.parentId }, { ...place, parentId: odd });
    deepEqual([found?.writes[0]?.taskId, found?.writes[0]?.taskPath], [odd, odd]);
    await store.remove(OWNER, odd);
    deepEqual(await idsOf(store), []);
  });

  check('STA-07.2 a state is replaced by one of its place; the value of a version stays what it was', async (store) => {
    await store.put(OWNER, stateOf('1', { versions: { x: '1' }, values: [storedValue('x', '1', 'first')] }));
    const again = {
      ...{ state: { ...typed('"again"'), type: 'other' }, metadata: { ...typed('"more"'), type: 'other' } },
      ...{ parentId: '0', versions: { x: '1' } },
    };
    await store.put(OWNER, stateOf('1', { ...again, values: [storedValue('x', '1', 'forged')] }));
    await store.put(OWNER, stateOf('1', { namespace: 'child', versions: { x: '1' } }));
    const found = await store.list(OWNER, { namespace: '', limit: 9 });
    deepEqual(plain(found), plain([{ ...stateOf('1', again), values: [storedValue('x', '1', 'first')], writes: [] }]));
    deepEqual(
      (await store.list(OWNER, { namespace: 'child', limit: 9 })).map(({ values }) => values),
      [[]],
    );
  });

  check('STA-07.2 a state that continues another is stored with all its values or not at all', async (store) => {
    const [x, y] = [storedValue('x', '1', '1'), storedValue('y', '2', '2')];
    equal(await store.put(OWNER, stateOf('1', { versions: { x: '1' }, values: [x] })), true);
    const second = stateOf('2', { parentId: '1', versions: { x: '1', y: '2' }, values: [y] });
    await store.remove(OWNER, 'thread');
    equal(await store.put(OWNER, second), false);
    deepEqual([await idsOf(store), await store.used(OWNER, 'thread')], [[], { others: 0, bytes: 0 }]);
    equal(await store.put(OWNER, { ...second, values: [x, y] }), true);
    const third = stateOf('3', { parentId: '2', versions: second.versions });
    equal(await store.put(OWNER, third), true);
    equal(await store.put(OWNER, { ...third, state: typed('"4"'), versions: { x: '1', y: '3' } }), false);
    equal(await store.put(OWNER, { ...third, namespace: 'child' }), false);
    deepEqual(
      (await store.list(OWNER, { limit: 9 })).map(({ state, values }) => [textOf(state.bytes), values.length]),
      [
        ['"3"', 2],
        ['"2"', 2],
      ],
    );
  });

  check('STA-07.2 a write stays what it was, one with a negative index is replaced', async (store) => {
    const place = placeOf(stateOf('1'));
    await store.write(OWNER, place, []);
    await store.write(OWNER, place, [written('b', 0, 'b0'), written('a', 1, 'a1'), written('a', -1, 'failed')]);
    await store.write(OWNER, place, [
      written('a', 1, 'forged'),
      written('a', -1, 'failed'),
      {
        ...written('a', -1, 'failed again', '/z'),
        channel: 'other',
        value: { ...typed('failed again'), type: 'other' },
      },
    ]);
    await store.write(OWNER, { ...place, checkpointId: '2' }, [written('a', 1, 'of another state')]);
    await store.put(OWNER, stateOf('1'));
    const [found] = await store.list(OWNER, { checkpointId: '1', limit: 9 });
    const shown = found?.writes.map(({ taskId, index, value }) => [taskId, index, textOf(value.bytes)]);
    deepEqual(shown, [
      ['a', 1, 'a1'],
      ['b', 0, 'b0'],
      ['a', -1, 'failed again'],
    ]);
    const { channel, taskPath, value } = found?.writes.at(-1) ?? {};
    deepEqual([channel, taskPath, value?.type], ['other', '/z', 'other']);
  });

  check('STA-07.2 states are listed newest first, page by page, each once', async (store) => {
    for (const checkpointId of ['1', '2', '3']) {
      for (const threadId of ['left', 'right']) await store.put(OWNER, stateOf(checkpointId, { threadId }));
      await store.put(OWNER, stateOf(checkpointId, { threadId: 'left', namespace: 'child' }));
    }
    const all = (await store.list(OWNER, { limit: 99 })).map(placeOf);
    deepEqual(
      all.map(({ checkpointId, threadId, namespace }) => `${checkpointId} ${threadId} ${namespace}`.trim()),
      ['3', '2', '1'].flatMap((id) => [`${id} left`, `${id} left child`, `${id} right`]),
    );
    equal((await store.list(OWNER, { limit: 2 })).length, 2);
    const paged: ThreadPlace[] = [];
    for (let page = await store.list(OWNER, { limit: 2 }); page.length > 0; ) {
      paged.push(...page.map(placeOf));
      const after = paged.at(-1);
      page = after === undefined ? [] : await store.list(OWNER, { limit: 2, after });
    }
    deepEqual(paged, all);
    deepEqual(await idsOf(store, { threadId: 'right', before: '3' }), ['2', '1']);
    deepEqual(await idsOf(store, { threadId: 'right', checkpointId: '2' }), ['2']);
    deepEqual(await idsOf(store, { threadId: 'unknown' }), []);
  });

  check('STA-07 owners never meet, whatever the id of the thread', async (store) => {
    await store.put(OWNER, stateOf('1', { versions: { x: '1' }, values: [storedValue('x', '1', 'secret')] }));
    await store.write(OWNER, placeOf(stateOf('1')), [written('a', 0, 'secret')]);
    for (const other of OTHERS) {
      deepEqual(await idsOf(store, {}, other), []);
      deepEqual(await store.used(other, 'thread'), { others: 0, bytes: 0 });
      await store.put(other, stateOf('1', { versions: { x: '1' } }));
      const [own] = await store.list(other, { limit: 9 });
      deepEqual([own?.values, own?.writes], [[], []]);
      await store.remove(other, 'thread');
    }
    deepEqual(await idsOf(store), ['1']);
    equal((await store.used(OWNER, 'thread')).bytes > THREAD_ROW_BYTES, true);
  });

  check(
    'STA-07.3 what the threads of an owner take is counted, what is stored already is not counted again',
    async (store) => {
      deepEqual(await store.used(OWNER, 'thread'), { others: 0, bytes: 0 });
      const state = stateOf('1', {
        state: typed('12345'),
        metadata: typed('12'),
        versions: { x: '1' },
        values: [storedValue('x', '1', '123')],
      });
      const bytes = 5 + 2 + 3 + 2 * THREAD_ROW_BYTES;
      for (let turn = 0; turn < 2; turn += 1) await store.put(OWNER, state);
      deepEqual(await store.used(OWNER, 'thread'), { others: 0, bytes });
      await store.put(OWNER, { ...state, state: typed('1') });
      deepEqual(await store.used(OWNER, 'another'), { others: 1, bytes: bytes - 4 });
      const writes = [written('a', 0, '1234'), written('a', -1, '12')];
      for (let turn = 0; turn < 2; turn += 1)
        await store.write(OWNER, { ...placeOf(state), threadId: 'another' }, writes);
      deepEqual(await store.used(OWNER, 'another'), { others: 1, bytes: bytes - 4 + 6 + 2 * THREAD_ROW_BYTES });
      await store.remove(OWNER, 'thread');
      const another = { others: 0, bytes: 6 + 2 * THREAD_ROW_BYTES };
      deepEqual(await store.used(OWNER, 'another'), another);
      const places = [{ threadId: 'thread' }, { namespace: 'child' }, { checkpointId: '2' }, {}];
      for (const owner of [OTHERS[0], OTHERS[1], OWNER]) {
        if (owner === undefined) continue;
        for (const place of places) {
          await store.put(
            owner,
            stateOf('1', { ...place, threadId: place.threadId ?? 'another', state: typed('123') }),
          );
          const at = { ...placeOf(stateOf('1')), threadId: 'another', ...place };
          await store.write(owner, at, [written('a', -1, '123456')]);
        }
      }
      const before = (await store.used(OWNER, 'another')).bytes;
      await store.put(OWNER, stateOf('1', { threadId: 'another', state: typed('1') }));
      await store.write(OWNER, { ...placeOf(stateOf('1')), threadId: 'another' }, [written('a', -1, '1')]);
      equal((await store.used(OWNER, 'another')).bytes, before - 2 - 5);
      for (const owner of [OWNER, OTHERS[0], OTHERS[1]])
        if (owner !== undefined) for (const id of ['thread', 'another']) await store.remove(owner, id);
      for (const other of OTHERS) deepEqual(await store.used(other, 'thread'), { others: 0, bytes: 0 });
    },
  );

  check('STA-07.3 what is stored at the same moment is all counted', async (store) => {
    const ids = Array.from({ length: 8 }, (_, at) => String(at));
    await Promise.all(ids.map((id) => store.put(OWNER, stateOf(id, { state: typed('1'), metadata: typed('') }))));
    deepEqual(await store.used(OWNER, 'thread'), { others: 0, bytes: 8 + 8 * THREAD_ROW_BYTES });
  });

  check('STA-07.3 threads that nobody changes are forgotten whole, the oldest first', async (store) => {
    for (const threadId of ['one', 'two', 'three']) {
      await store.put(OWNER, stateOf('1', { threadId, versions: { x: '1' }, values: [storedValue('x', '1', '1')] }));
      await store.write(OWNER, { ...placeOf(stateOf('1')), threadId }, [written('a', 0, '1')]);
    }
    equal(await store.forget(Date.now() - HOUR_MS, 9), 0);
    deepEqual((await idsOf(store)).length, 3);
    equal(await store.forget(Date.now() + HOUR_MS, 2), 2);
    deepEqual(
      (await store.list(OWNER, { limit: 9 })).map(({ threadId }) => threadId),
      ['three'],
    );
    equal(await store.forget(Date.now() + HOUR_MS, 2), 1);
    deepEqual(await store.used(OWNER, 'one'), { others: 0, bytes: 0 });
    await store.put(OWNER, stateOf('1', { threadId: 'one', versions: { x: '1' } }));
    const [anew] = await store.list(OWNER, { limit: 9 });
    deepEqual([anew?.values, anew?.writes], [[], []]);
  });
}
