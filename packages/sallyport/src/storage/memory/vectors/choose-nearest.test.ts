import { expect, test } from 'vitest';
import { chooseNearest } from './choose-nearest.ts';

const chosen = (cosines: readonly number[], least: number, max: number): number[] => [
  ...chooseNearest(Float32Array.from(cosines), least, max),
];

test('what reaches the bound is chosen', () => {
  expect(chosen([0.5, 0.25, -0.5, 0.75], 0.5, 10)).toEqual([0, 3]);
  expect(chosen([0.5, 0.25], -1, 10)).toEqual([0, 1]);
  expect(chosen([], -1, 10)).toEqual([]);
  expect(chosen([0.5], 0.6, 10)).toEqual([]);
});

test('of too many the largest are chosen, and their equals', () => {
  expect(chosen([0.1, 0.9, 0.3, 0.8], -1, 2)).toEqual([1, 3]);
  expect(chosen([0.9, 0.9, 0.1], -1, 1)).toEqual([0, 1]);
  expect(chosen([1, -1, 0], -1, 1)).toEqual([0]);
});

test('of 100 000 no other is larger than one that is chosen', () => {
  const cosines = Float32Array.from({ length: 100_000 }, (_, at) => Math.sin(at * 12.9898));
  const places = new Set(chooseNearest(cosines, -1, 500));
  const least = Math.min(...[...places].map((at) => cosines[at] as number));
  expect(places.size).toBeGreaterThanOrEqual(500);
  expect(cosines.every((cosine, at) => places.has(at) || cosine < least)).toBe(true);
});
