import { expect, test } from 'vitest';
import { BOUNDARY_SIMILARITY, RELATED_SIMILARITY, similarityOf } from './similarity.ts';

const TRAITS = { dimensions: 3, boundaryCosine: 0.3, relatedCosine: 0.5 };

test('REG-05.3 the boundary of each model is the same similarity', () => {
  for (const boundaryCosine of [-0.2, 0.3, 0.75]) {
    const similarity = similarityOf({ ...TRAITS, boundaryCosine, relatedCosine: boundaryCosine + 0.1 });
    expect(similarity.of(boundaryCosine)).toBeCloseTo(BOUNDARY_SIMILARITY);
    expect(similarity.of(boundaryCosine + 0.1)).toBeCloseTo(RELATED_SIMILARITY);
    expect(similarity.of(boundaryCosine - 0.01)).toBeLessThan(BOUNDARY_SIMILARITY);
  }
});

test('a similarity lies between 0 and 1, grows with the cosine, and leads back to it', () => {
  const similarity = similarityOf(TRAITS);
  expect([-1, -2, 1, 2].map(similarity.of)).toEqual([0, 0, 1, 1]);
  let before = -1;
  for (let cosine = -1; cosine <= 1; cosine += 0.05) {
    expect(similarity.of(cosine)).toBeGreaterThan(before);
    before = similarity.of(cosine);
    expect(similarity.cosineOf(similarity.of(cosine))).toBeCloseTo(cosine);
  }
});

test('a model that tells nothing apart still has an order', () => {
  for (const odd of [
    { boundaryCosine: 1, relatedCosine: 1 },
    { boundaryCosine: 0.5, relatedCosine: 0.1 },
  ]) {
    const similarity = similarityOf({ dimensions: 3, ...odd });
    expect(similarity.of(0.99)).toBeGreaterThan(similarity.of(0.2));
    expect(Number.isFinite(similarity.cosineOf(0.7))).toBe(true);
  }
});
