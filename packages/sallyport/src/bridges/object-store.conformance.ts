import { deepEqual, equal, rejects } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { MiB } from '@sallyport/std/bytes';
import type { ObjectStore } from './object-store.port.ts';

const BYTES = Buffer.from('{"step":1}');

/** What may not be a name: it would leave its folder, hide in it, or mean something to a server. */
const BAD_NAMES = [
  '',
  'one',
  '../up',
  'a/..',
  'a/../b',
  '/a/b',
  'a//b',
  'a/b/',
  '.a/b',
  'a/.b',
  'a/b c',
  'a/b\0',
  'a/b?x',
  'a/%2e',
];

/** Requirements of every ObjectStore. `open` gives an empty one each time. */
export function objectStoreConformance(test: TestCase, adapter: string, open: OpenStore<ObjectStore>): void {
  const check = casesOver(test, adapter, open);

  check('STA-03.4 an object comes back as it was stored, and is gone when it was removed', async (store) => {
    const large = Buffer.alloc(2 * MiB + 1, 'é');
    await store.put('acme/large.1', large, 'kept');
    await store.put('acme/small', BYTES, 'archived');
    await store.put('acme/none', new Uint8Array(), 'kept');
    deepEqual(bytesOf(await store.get('acme/large.1', large.length)), new Uint8Array(large));
    deepEqual(bytesOf(await store.get('acme/small', BYTES.length)), new Uint8Array(BYTES));
    deepEqual(bytesOf(await store.get('acme/none', 0)), new Uint8Array());
    await store.remove('acme/large.1');
    equal(await store.get('acme/large.1', large.length), undefined);
    deepEqual(bytesOf(await store.get('acme/small', BYTES.length)), new Uint8Array(BYTES));
  });

  check('STA-03.4 none of that name, or one of another size, is undefined', async (store) => {
    equal(await store.get('acme/unknown', 1), undefined);
    equal(await store.bringBack('acme/unknown'), undefined);
    await store.put('acme/one', BYTES, 'kept');
    equal(await store.get('acme/one', BYTES.length - 1), undefined);
    equal(await store.get('acme/one', BYTES.length + 1), undefined);
    equal(await store.get('other/one', BYTES.length), undefined);
  });

  check('STA-03.4 what is stored or removed twice is stored or removed', async (store) => {
    await store.put('acme/one', BYTES, 'kept');
    await store.put('acme/one', BYTES, 'kept');
    deepEqual(bytesOf(await store.get('acme/one', BYTES.length)), new Uint8Array(BYTES));
    await store.remove('acme/one');
    await store.remove('acme/one');
    await store.remove('unknown/one');
  });

  check('STA-06.4 what can be read is brought back at once', async (store) => {
    await store.put('acme/one', BYTES, 'archived');
    equal(await store.bringBack('acme/one'), 'readable');
  });

  check('STA-03.4 a name never leaves the store', async (store) => {
    for (const name of [...BAD_NAMES, `a/${'b'.repeat(200)}`]) {
      await rejects(store.put(name, BYTES, 'kept'), { code: 'E3900' }, name);
      await rejects(store.get(name, 1), { code: 'E3900' }, name);
      await rejects(store.bringBack(name), { code: 'E3900' }, name);
      await rejects(store.remove(name), { code: 'E3900' }, name);
    }
    await store.put(`a/${'b'.repeat(198)}`, BYTES, 'kept');
  });
}

const bytesOf = (found: Awaited<ReturnType<ObjectStore['get']>>): unknown =>
  found instanceof Uint8Array ? new Uint8Array(found) : found;
