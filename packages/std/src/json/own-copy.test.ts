import { expect, test } from 'vitest';
import { ownCopy } from './own-copy.ts';

test('a copy is equal, and no change of the original reaches it', () => {
  const given = { list: [1, { a: 'x' }], none: null, gone: undefined, ['__proto__']: { own: true } };
  const copy = ownCopy(given);
  expect(copy).toEqual(given);
  expect(JSON.stringify(ownCopy(JSON.parse('{"__proto__":{"a":1}}')))).toBe('{"__proto__":{"a":1}}');
  given.list.push(2);
  (given.list[1] as { a: string }).a = 'y';
  expect(copy.list).toEqual([1, { a: 'x' }]);
});

test('a member is read once, and stays what it was then', () => {
  let reads = 0;
  const copy = ownCopy({
    get n() {
      reads += 1;
      return reads;
    },
  });
  expect([copy.n, copy.n, reads]).toEqual([1, 1, 1]);
});

test('what is no list and no plain object is as it was, and a value that holds itself ends', () => {
  const date = new Date(0);
  const map = new Map([[1, 2]]);
  expect(ownCopy({ date, map }).date).toBe(date);
  expect(ownCopy([map])[0]).toBe(map);
  const bare = Object.assign(Object.create(null), { a: 1 });
  expect(ownCopy(bare)).toEqual({ a: 1 });
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  // One reference more, and without a memory of what was copied the work doubles with each level.
  circle['again'] = [circle];
  const copy = ownCopy(circle);
  expect(copy).not.toBe(circle);
  expect(copy['self']).toBe(copy);
  expect(copy['again']).toEqual([copy]);
});
