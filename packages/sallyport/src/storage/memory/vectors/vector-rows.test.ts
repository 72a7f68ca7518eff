import { expect, test } from 'vitest';
import { createVectorRows } from './vector-rows.ts';

/** Reproducible numbers between -1 and 1. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

function unit(dimensions: number, next: () => number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, next);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

const dot = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, value, at) => sum + value * (other[at] as number), 0);

test.each([1, 3, 15, 16, 17, 384, 512, 1536, 4096])(
  'REG-05 cosines of %i numbers are exact to 0.0001',
  (dimensions) => {
    const next = numbersFrom(dimensions);
    const rows = createVectorRows(dimensions);
    const vectors = Array.from({ length: 1100 }, () => unit(dimensions, next));
    const addresses = Uint32Array.from(vectors, (vector) => rows.add(vector));
    const query = unit(dimensions, next);
    const cosines = rows.nearest([query], addresses);
    vectors.forEach((vector, at) => {
      expect(Math.abs((cosines[at] as number) - dot(vector, query))).toBeLessThan(0.0001);
    });
  },
);

test('the extremes do not overflow', () => {
  for (const vector of [Float32Array.of(1, 0), Float32Array.of(-1, 0), Float32Array.of(Math.SQRT1_2, Math.SQRT1_2)]) {
    const rows = createVectorRows(2);
    const address = rows.add(vector);
    const turned = vector.map((value) => -value);
    expect(rows.nearest([vector], Uint32Array.of(address))[0]).toBeCloseTo(1, 3);
    expect(rows.nearest([turned], Uint32Array.of(address))[0]).toBeCloseTo(-1, 3);
  }
});

test('of several queries the nearest counts, and the order of the rows is free', () => {
  const rows = createVectorRows(2);
  const [east, north] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
  const addresses = [rows.add(east), rows.add(north)];
  const both = rows.nearest([east, north], Uint32Array.from(addresses.toReversed()));
  expect(Array.from(both, (cosine) => Number(cosine.toFixed(3)))).toEqual([1, 1]);
  expect(rows.nearest([east], new Uint32Array())).toHaveLength(0);
});

test('a row that was given back is used again, so that the memory stays', () => {
  const rows = createVectorRows(512);
  const vector = unit(512, numbersFrom(1));
  const first = rows.add(vector);
  const bytes = rows.bytes();
  for (let at = 0; at < 10_000; at += 1) {
    const address = rows.add(vector);
    rows.remove(address);
  }
  expect(rows.bytes()).toBe(bytes);
  rows.replace(
    first,
    vector.map((value) => -value),
  );
  expect(rows.nearest([vector], Uint32Array.of(first))[0]).toBeCloseTo(-1, 3);
});
