import { deepEqual, ok } from 'node:assert/strict';
import type { Nearness, VectorIndex } from '../../vectors.port.ts';

/** Conformance of every VectorIndex. `open` returns an empty index each time. */
export function vectorIndexConformance(
  test: (name: string, run: () => Promise<void>) => void,
  adapter: string,
  open: () => Promise<{ readonly index: VectorIndex; close(): Promise<void> }>,
): void {
  const check = (name: string, run: (index: VectorIndex) => Promise<void>): void =>
    test(`${name} (${adapter})`, async () => {
      const { index, close } = await open();
      try {
        await run(index);
      } finally {
        await close();
      }
    });

  check('an index that was not opened finds nothing', async (index) => {
    await index.put('acme', [{ toolId: 'a', vector: EAST }]);
    await index.remove('acme', ['a']);
    deepEqual(await found(index), []);
  });

  check('REG-07.3 REG-05 what is near is found with its cosine', async (index) => {
    await fill(index);
    const near = await index.search('acme', nearness());
    deepEqual([...near.keys()].sort(), ['east', 'north-east']);
    close(near.get('east'), 1);
    close(near.get('north-east'), Math.SQRT1_2);
  });

  check('the least cosine is the bound of what is near', async (index) => {
    await fill(index);
    deepEqual(await found(index, { cosineMin: 0.75 }), ['east']);
    deepEqual(await found(index, { cosineMin: 0.65 }), ['east', 'north-east']);
    deepEqual(await found(index, { cosineMin: -1 }), ['east', 'north', 'north-east', 'west']);
  });

  check('the nearest come first when there are too many', async (index) => {
    await fill(index);
    deepEqual(await found(index, { cosineMin: -1, toolsMax: 1 }), ['east']);
    deepEqual(await found(index, { cosineMin: -1, toolsMax: 2 }), ['east', 'north-east']);
  });

  check('of several queries the nearest counts', async (index) => {
    await fill(index);
    const near = await index.search('acme', nearness({ queries: [EAST, WEST], cosineMin: 0.9 }));
    deepEqual([...near.keys()].sort(), ['east', 'west']);
    close(near.get('west'), 1);
  });

  check('the cosines of named tools are given in any case', async (index) => {
    await fill(index);
    const near = await index.search('acme', nearness({ cosineMin: 0.9, also: ['west', 'north', 'absent'] }));
    deepEqual([...near.keys()].sort(), ['east', 'north', 'west']);
    close(near.get('west'), -1);
  });

  check('REG-05 only allowed tools are found, and chosen before the nearest', async (index) => {
    await fill(index);
    deepEqual(await found(index, { only: ['north-east', 'west', 'absent'] }), ['north-east']);
    deepEqual(await found(index, { only: [], cosineMin: -1 }), []);
    const limited = { only: ['west', 'north'], cosineMin: -1, toolsMax: 1, also: ['east'] };
    deepEqual(await found(index, limited), ['north']);
  });

  check('a tool has one vector, the latest', async (index) => {
    await fill(index);
    await index.put('acme', [{ toolId: 'east', vector: WEST }]);
    deepEqual(await found(index, { queries: [WEST], cosineMin: 0.9 }), ['east', 'west']);
    deepEqual(await found(index, { cosineMin: 0.9 }), []);
  });

  check('a removed tool is no longer found, and another can take its place', async (index) => {
    await fill(index);
    await index.remove('acme', ['east', 'absent']);
    await index.remove('nobody', ['east']);
    deepEqual(await found(index), ['north-east']);
    await index.put('acme', [{ toolId: 'new', vector: EAST }]);
    deepEqual(await found(index), ['new', 'north-east']);
  });

  check('REG-05 a tenant finds nothing of another', async (index) => {
    await fill(index);
    await index.put('globex', [{ toolId: 'east', vector: WEST }]);
    deepEqual([...(await index.search('globex', nearness({ cosineMin: 0.5, also: ['north'] }))).keys()], []);
    deepEqual([...(await index.search('nobody', nearness({ cosineMin: -1 }))).keys()], []);
    await index.remove('globex', ['east']);
    deepEqual(await found(index), ['east', 'north-east']);
  });

  check('REG-06 vectors of another model are not found', async (index) => {
    await fill(index);
    await index.open('another', 3);
    deepEqual(await found(index, { cosineMin: -1 }), []);
    await index.put('acme', [{ toolId: 'west', vector: EAST }]);
    deepEqual(await found(index), ['west']);
    await index.open('long', 40);
    const long = new Float32Array(40).fill(Math.sqrt(1 / 40));
    await index.put('acme', [{ toolId: 'long', vector: long }]);
    deepEqual(await found(index, { queries: [long] }), ['long']);
  });

  check('opening what is open keeps everything', async (index) => {
    await fill(index);
    await index.open('model', 3);
    deepEqual(await found(index), ['east', 'north-east']);
  });

  check('hostile ids come back as they were', async (index) => {
    await index.open('model', 3);
    const hostile = ["a'; drop table x --", 'nul \0', '🙂', '\ud800'];
    await index.put(
      'te\0nant',
      hostile.map((toolId) => ({ toolId, vector: EAST })),
    );
    deepEqual([...(await index.search('te\0nant', nearness())).keys()].sort(), hostile.toSorted());
  });
}

const EAST = Float32Array.of(1, 0, 0);
const WEST = Float32Array.of(-1, 0, 0);

async function fill(index: VectorIndex): Promise<void> {
  await index.open('model', 3);
  await index.put('acme', [
    { toolId: 'east', vector: EAST },
    { toolId: 'north', vector: Float32Array.of(0, 1, 0) },
    { toolId: 'north-east', vector: Float32Array.of(Math.SQRT1_2, Math.SQRT1_2, 0) },
    { toolId: 'west', vector: WEST },
  ]);
}

const nearness = (more: Partial<Nearness> = {}): Nearness => ({
  queries: [EAST],
  cosineMin: 0.5,
  toolsMax: 100,
  also: [],
  ...more,
});

const found = async (index: VectorIndex, more: Partial<Nearness> = {}): Promise<string[]> =>
  [...(await index.search('acme', nearness(more))).keys()].sort();

const close = (value: number | undefined, expected: number): void =>
  ok(Math.abs((value ?? Number.NaN) - expected) < 0.0005, `${value} is not near ${expected}`);
