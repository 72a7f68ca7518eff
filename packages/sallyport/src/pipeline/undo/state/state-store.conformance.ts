import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { StateHolder, StateKey, StateStore, StateWrite } from '../../state-store.port.ts';

const key = (more: Partial<StateKey> = {}): StateKey => ({
  tenantId: 'acme',
  ownerId: 'acme',
  toolId: 'counter',
  name: 'n',
  ...more,
});

const holder = (more: Partial<StateHolder> = {}): StateHolder => ({
  tenantId: 'acme',
  invocationId: 'call-1',
  fence: 0,
  ...more,
});

const write = (more: Partial<StateWrite> = {}): StateWrite => ({
  key: key(),
  by: holder(),
  next: '1',
  valuesMax: 10,
  ...more,
});

const other = holder({ invocationId: 'call-2' });

/** Requirements of every StateStore. `open` gives an empty one each time. */
export function stateStoreConformance(test: TestCase, adapter: string, open: OpenStore<StateStore>): void {
  const check = casesOver(test, adapter, open);

  check('PIPE-03 what a call wrote stands beside what was there until it is kept', async (store) => {
    equal(await store.read(key()), undefined);
    equal(await store.write(write()), 'written');
    deepEqual(await store.read(key()), { value: undefined, revision: 0, held: { by: holder(), next: '1' } });
    await store.keep(holder());
    const first = await store.read(key());
    deepEqual([first?.value, first?.held], ['1', undefined]);
    equal(await store.write(write({ next: '2' })), 'written');
    deepEqual(await store.read(key()), { ...first, held: { by: holder(), next: '2' } });
    await store.keep(holder());
    const second = await store.read(key());
    equal(second?.value, '2');
    equal(Number(second?.revision) > Number(first?.revision), true);
  });

  check('PIPE-03 what is discarded leaves what was there, as often as it is asked for', async (store) => {
    await store.write(write());
    for (let times = 0; times < 2; times += 1) await store.discard(holder());
    equal(await store.read(key()), undefined);
    await store.write(write());
    await store.keep(holder());
    const kept = await store.read(key());
    await store.write(write({ next: undefined }));
    await store.discard(holder());
    deepEqual(await store.read(key()), kept);
    await store.keep(holder());
    deepEqual(await store.read(key()), kept);
  });

  check('a removal is kept as one, and removing nothing holds nothing', async (store) => {
    equal(await store.write(write({ next: undefined })), 'written');
    equal(await store.read(key()), undefined);
    await store.write(write());
    await store.keep(holder());
    const kept = await store.read(key());
    await store.write(write({ next: undefined }));
    deepEqual(await store.read(key()), { ...kept, held: { by: holder(), next: undefined } });
    await store.keep(holder());
    equal(await store.read(key()), undefined);
  });

  check(
    'PIPE-03 a key that a call has written is no other call’s, nor that of another run of the call',
    async (store) => {
      await store.write(write());
      for (const by of [other, holder({ fence: 1 })]) {
        deepEqual(await store.write(write({ by, next: '9' })), { heldBy: holder() });
        await store.keep(by);
        await store.discard(by);
      }
      equal(await store.write(write({ next: '3' })), 'written');
      deepEqual((await store.read(key()))?.held, { by: holder(), next: '3' });
    },
  );

  check(
    'PIPE-03 a writer that has read another value is refused, also when the same was written anew',
    async (store) => {
      equal(await store.write(write({ expected: 1 })), 'changed');
      equal(await store.write(write({ expected: 0 })), 'written');
      equal(await store.write(write({ expected: 77, next: '5' })), 'written');
      await store.keep(holder());
      const revision = (await store.read(key()))?.revision ?? 0;
      equal(await store.write(write({ by: other, expected: 0 })), 'changed');
      equal(await store.write(write({ by: other, expected: revision, next: undefined })), 'written');
      await store.keep(other);
      await store.write(write({ next: '5' }));
      await store.keep(holder());
      equal(await store.write(write({ by: other, expected: revision })), 'changed');
      equal(await store.write(write({ by: other, expected: 0 })), 'changed');
    },
  );

  check('of writers at the same time one has the key, and no more values come than there may be', async (store) => {
    const many = Array.from({ length: 16 }, (_, at) => holder({ invocationId: `call-${at}` }));
    const ends = await Promise.all(many.map((by) => store.write(write({ by }))));
    equal(ends.filter((end) => end === 'written').length, 1);
    const names = await Promise.all(
      many.map((by, at) => store.write(write({ by, key: key({ name: `own-${at}` }), valuesMax: 5 }))),
    );
    equal(names.filter((end) => end === 'written').length, 4);
    equal(names.filter((end) => end === 'full').length, 12);
  });

  check('a full tool may change and remove what it has, and its room is its own', async (store) => {
    for (const name of ['a', 'b']) equal(await store.write(write({ key: key({ name }), valuesMax: 2 })), 'written');
    equal(await store.write(write({ key: key({ name: 'c' }), valuesMax: 2 })), 'full');
    equal(await store.write(write({ key: key({ name: 'a' }), next: '2', valuesMax: 2 })), 'written');
    equal(await store.write(write({ key: key({ name: 'b' }), next: undefined, valuesMax: 2 })), 'written');
    await store.keep(holder());
    equal(await store.write(write({ key: key({ name: 'c' }), valuesMax: 2 })), 'written');
    equal(await store.write(write({ key: key({ toolId: 'other', name: 'c' }), valuesMax: 1 })), 'written');
  });

  check(
    'PIPE-03 PRM-10 what a call writes, keeps and discards leaves all that is not its own as it was',
    async (store) => {
      const keys = [{ tenantId: 'globex' }, { ownerId: 'globex' }, { toolId: 'other' }, { name: 'm' }].map(key);
      for (const each of keys) {
        const by = holder({ tenantId: each.tenantId });
        await store.write(write({ key: each, by }));
        await store.keep(by);
      }
      for (const by of [other, holder({ fence: 1 }), holder({ tenantId: 'globex' })]) {
        for (const [text, next] of Object.entries({ begun: '1', changed: '2', removed: undefined })) {
          const at = key({ tenantId: by.tenantId, name: `${text} ${by.invocationId} ${by.fence}` });
          keys.push(at);
          if (text !== 'begun') {
            await store.write(write({ key: at, by }));
            await store.keep(by);
          }
          await store.write(write({ key: at, by, next }));
        }
      }
      const before = await Promise.all(keys.map(store.read));
      for (const end of [store.keep, store.discard, store.keep]) {
        for (const next of ['3', '4']) equal(await store.write(write({ next })), 'written');
        await end(holder());
        deepEqual(await Promise.all(keys.map(store.read)), before);
      }
      equal((await store.read(key()))?.value, '4');
    },
  );

  check('values are of one tenant, one owner and one tool, whatever text is in them', async (store) => {
    const odd = ['acme', 'globex', 'a\0', 'a\uFFFD', 'a\ud800', 'json:"a"'];
    const keys = [
      ...odd.map((tenantId) => key({ tenantId })),
      ...odd.slice(1).map((name) => key({ name })),
      ...odd.slice(1).map((ownerId) => key({ ownerId })),
      key({ toolId: 'other' }),
    ];
    for (const [at, each] of keys.entries()) {
      const by = holder({ tenantId: each.tenantId });
      equal(await store.write(write({ key: each, by, next: JSON.stringify([at, 'a\0 \ud800 "']) })), 'written');
    }
    await store.keep(holder());
    for (const [at, each] of keys.entries()) {
      const found = await store.read(each);
      const text = JSON.stringify([at, 'a\0 \ud800 "']);
      if (each.tenantId === 'acme') equal(found?.value, text);
      else deepEqual([found?.value, found?.held?.next], [undefined, text]);
    }
  });
}
