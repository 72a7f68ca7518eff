import { expect, test } from 'vitest';
import { isoTime } from './iso-time.ts';

test('a time is written as Date writes it, in any order and before 1970 too', () => {
  const start = Date.UTC(2026, 0, 1);
  const times = [start, start + 9, start + 10, start + 99, start + 100, start + 999, start + 1000, start - 1];
  for (const ms of [...times, 0, -1, -999, -1000, -1001, 253402300800000, 1.5, start + 0.75, ...times]) {
    expect(isoTime(ms)).toBe(new Date(ms).toISOString());
  }
  expect(() => isoTime(Number.NaN)).toThrow(RangeError);
  expect(() => isoTime(9e15)).toThrow(RangeError);
  expect(isoTime(start)).toBe('2026-01-01T00:00:00.000Z');
});
