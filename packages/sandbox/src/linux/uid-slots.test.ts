import { expect, test } from 'vitest';
import { createUidSlots } from './uid-slots.ts';

const WHOLE = '         0          0 4294967295\n';

test('each uid is lent once at a time, and no more than there are', () => {
  const slots = createUidSlots(WHOLE, 2);
  const [first, second] = [slots?.take(), slots?.take()];
  expect([first, second]).toEqual([2_100_000_000, 2_100_000_001]);
  expect(slots?.take()).toBeUndefined();
  slots?.giveBack(2_100_000_001);
  expect(slots?.take()).toBe(2_100_000_001);
});

test('in a container the uids come from the end of what is mapped', () => {
  const slots = createUidSlots('0 100000 65536\n', 10);
  const uids = Array.from({ length: 10 }, () => slots?.take() ?? 0);
  expect(Math.min(...uids)).toBeGreaterThan(60_000);
  expect(Math.max(...uids)).toBeLessThan(65_536);
});

test('a process that may become nobody else has no slots', () => {
  expect(createUidSlots('', 10)).toBeUndefined();
  expect(createUidSlots('0 1000 1\n', 10)).toBeUndefined();
});
