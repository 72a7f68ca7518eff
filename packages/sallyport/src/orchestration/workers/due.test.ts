import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { dueOf } from './due.ts';

const MINUTE_MS = 60_000;
const priorities = fc.constantFrom('low', 'normal', 'high');
const due = (priority: 'low' | 'normal' | 'high', acceptedAt: number): number => {
  const waiting = { request: { execution_options: { priority } } } as unknown as InvocationRecord['waiting'];
  return dueOf({ acceptedAt, ...(waiting === undefined ? {} : { waiting }) });
};

test('PIPE-08.6 a call runs before all that come more than a minute after it, however urgent they are', () => {
  fc.assert(
    fc.property(priorities, priorities, fc.nat(), fc.integer({ min: 1, max: 1e9 }), (own, later, at, ms) => {
      expect(due(own, at)).toBeLessThan(due(later, at + MINUTE_MS + ms));
    }),
  );
});

test('PIPE-08.1 of calls that come together the most urgent is due first', () => {
  expect(due('high', 0)).toBeLessThan(due('normal', 0));
  expect(due('normal', 0)).toBeLessThan(due('low', 0));
});
