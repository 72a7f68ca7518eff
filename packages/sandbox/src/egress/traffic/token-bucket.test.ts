import { expect, test } from 'vitest';
import { tokenBucket } from './token-bucket.ts';

/** Takes bytes from a bucket as a relay does, with a simulated clock. @returns the resulting rate in Mbit/s */
function move(megabits: number, pieceBytes: number, totalBytes: number, lateMs = 0): number {
  let now = 0;
  const bucket = tokenBucket(megabits, () => now);
  for (let moved = 0; moved < totalBytes; moved += pieceBytes) {
    const waitMs = bucket.take(pieceBytes);
    if (waitMs > 0) now += waitMs + lateMs;
  }
  return (totalBytes * 8) / 1000 / now;
}

test.each([
  [1, 1400, 1_000_000],
  [8, 65_536, 10_000_000],
  [100, 65_536, 100_000_000],
  [1000, 65_536, 1_000_000_000],
])(
  'SBX-04.5 %i Mbit/s in pieces of %i bytes come out within 5 percent, with timers that come late too',
  (rate, piece, total) => {
    for (const lateMs of [0, 1.5]) expect(Math.abs(move(rate, piece, total, lateMs) / rate - 1)).toBeLessThan(0.05);
  },
);

test('what was not used is not saved up', () => {
  let now = 0;
  const bucket = tokenBucket(8, () => now);
  now = 60_000;
  // The rate is 1 MB a second: after an idle minute one more megabyte still takes a second, less the burst.
  expect(bucket.take(1_000_000)).toBeGreaterThan(950);
});
