import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { KeptVector, VectorStore } from '../../vectors.port.ts';

/** Conformance of every VectorStore. `open` returns an empty store each time. */
export function vectorStoreConformance(test: TestCase, adapter: string, open: OpenStore<VectorStore>): void {
  const check = casesOver(test, adapter, open);

  check('an empty store holds no vectors', async (store) => {
    deepEqual(await store.get('model', 3, [hash('a')]), []);
    deepEqual(await store.get('model', 3, []), []);
    await store.put('model', []);
    equal(await store.prune(Date.now()), 0);
  });

  check('REG-07.1 REG-07.5 a vector comes back bit by bit', async (store) => {
    const vector = Float32Array.of(0.1, -1 / 3, 1e-30, -0, 3.4e38);
    await store.put('model', [{ contentHash: hash('a'), vector }]);
    const [kept] = await store.get('model', 5, [hash('a')]);
    deepEqual(kept, { contentHash: hash('a'), vector });
  });

  check('only what was asked for and is there comes back', async (store) => {
    await store.put('model', [entry('a', 1), entry('b', 2), entry('c', 3)]);
    deepEqual(await got(store, 'model', 'b', 'absent', 'c'), ['b', 'c']);
  });

  check('REG-06.6 vectors of another model or length are not these', async (store) => {
    await store.put('model', [entry('a', 1)]);
    await store.put('other', [entry('b', 1)]);
    deepEqual(await got(store, 'other', 'a', 'b'), ['b']);
    deepEqual(await store.get('model', 2, [hash('a')]), []);
  });

  check('the latest vector of a text stands', async (store) => {
    await store.put('model', [entry('a', 1)]);
    await store.put('model', [entry('a', 2), entry('a', 3)]);
    deepEqual(await store.get('model', 3, [hash('a')]), [entry('a', 3)]);
    const longer = { contentHash: hash('a'), vector: Float32Array.of(1, 2, 3, 4) };
    await store.put('model', [longer]);
    deepEqual(await store.get('model', 4, [hash('a')]), [longer]);
  });

  check('writers of the same vectors at the same time leave one of each', async (store) => {
    const both = [entry('a', 1), entry('b', 2)];
    await Promise.all(
      Array.from({ length: 8 }, (_, at) => store.put('model', at % 2 === 0 ? both : both.toReversed())),
    );
    deepEqual(await got(store, 'model', 'a', 'b'), ['a', 'b']);
  });

  check('what nobody used for long is forgotten', async (store) => {
    await store.put('model', [entry('a', 1)]);
    equal(await store.prune(Date.now() - 7 * DAY_MS), 0);
    deepEqual(await got(store, 'model', 'a'), ['a']);
    equal(await store.prune(Date.now() + 7 * DAY_MS), 1);
    deepEqual(await got(store, 'model', 'a'), []);
  });
}

const DAY_MS = 24 * 3600 * 1000;

const hash = (name: string): string => name.padStart(64, '0');

const entry = (name: string, value: number): KeptVector => ({
  contentHash: hash(name),
  vector: Float32Array.of(value, 0, 0),
});

const got = async (store: VectorStore, model: string, ...names: string[]): Promise<string[]> =>
  (await store.get(model, 3, names.map(hash))).map(({ contentHash }) => contentHash.replace(/^0+/, '')).sort();
