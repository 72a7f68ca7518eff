import { expect, test } from 'vitest';
import { bestHits } from './best-hits.ts';

const best = (scores: readonly number[], max: number): number[] => {
  const hits = Uint32Array.from(scores.keys()).filter((slot) => (scores[slot] as number) > 0);
  return [...bestHits({ scores: Float32Array.from(scores), hits }, max)].sort((one, other) => one - other);
};

test('everything where it is few, the largest where it is many', () => {
  expect(best([1, 0, 3, 2], 3)).toEqual([0, 2, 3]);
  expect(best([1, 0, 3, 2], 2)).toEqual([2, 3]);
  expect(best([1, 0, 3, 2], 1)).toEqual([2]);
  expect(best([], 1)).toEqual([]);
});

test('of equal scores the first', () => {
  expect(best([1, 1, 1, 1], 2)).toEqual([0, 1]);
  expect(best([1, 2, 1, 2, 1], 3)).toEqual([0, 1, 3]);
});

test('of 100 000 none that is clearly larger is left out', () => {
  const scores = Array.from({ length: 100_000 }, (_, at) => Math.abs(Math.sin(at * 78.233)) + 0.001);
  const chosen = new Set(best(scores, 1000));
  expect(chosen.size).toBe(1000);
  const least = Math.min(...[...chosen].map((slot) => scores[slot] as number));
  expect(scores.every((score, slot) => chosen.has(slot) || score < least + 0.001)).toBe(true);
});
