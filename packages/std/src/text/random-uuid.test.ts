import { expect, test } from 'vitest';
import { randomUuid } from './random-uuid.ts';

const V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('ids are of version 4, and none comes twice over many blocks', () => {
  const ids = Array.from({ length: 1000 }, randomUuid);
  expect(ids.filter((id) => !V4.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test('every free bit of an id is random', () => {
  const ids = Array.from({ length: 1000 }, randomUuid).map((id) => BigInt(`0x${id.replaceAll('-', '')}`));
  const ones = ids.reduce((all, id) => all | id, 0n);
  const zeros = ids.reduce((all, id) => all | ~id, 0n) & ((1n << 128n) - 1n);
  // Six bits of the 128 say version and variant.
  expect(ones & zeros).toBe(((1n << 128n) - 1n) ^ (0xfn << 76n) ^ (0x3n << 62n));
});
