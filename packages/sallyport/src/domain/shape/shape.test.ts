import Type, { type TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { shapeOf } from './shape.ts';

test('a shape is told from what is not of it', () => {
  const isPoint = shapeOf(Type.Object({ x: Type.Number() }, { additionalProperties: false }));
  expect([{ x: 1 }, { x: '1' }, {}, { x: 1, y: 2 }, null, [], 'x', undefined].map(isPoint)).toEqual([
    true,
    ...Array.from({ length: 7 }, () => false),
  ]);
});

test('a value that is deeper than the stack is not of any shape that looks into it', () => {
  const nested: TSchema = { type: 'array', items: { $ref: '#' } };
  const isNested = shapeOf(nested);
  let deep: unknown[] = [];
  for (let level = 0; level < 200_000; level += 1) deep = [deep];
  expect(isNested([[], [[]]])).toBe(true);
  expect(isNested([1])).toBe(false);
  expect(isNested(deep)).toBe(false);
});

test('what a value itself throws is not taken for an answer', () => {
  const trap = Object.defineProperty({}, 'x', {
    enumerable: true,
    get: () => {
      throw new TypeError('no');
    },
  });
  expect(() => shapeOf(Type.Object({ x: Type.Number() }))(trap)).toThrow('no');
});
