import { expect, test } from 'vitest';
import type { DeprecationState } from '../../../api/schemas/registry.ts';
import { mayFollow, VERSION_TRANSITIONS, wayOut } from './lifecycle.ts';

const STATES: readonly DeprecationState[] = ['active', 'deprecated', 'sunset', 'removed'];
const LEGAL = new Set([
  'active deprecated',
  'deprecated sunset',
  'sunset removed',
  'deprecated active',
  'sunset active',
  'removed active',
]);

test.each(STATES.flatMap((from) => STATES.map((to) => [from, to] as const)))(
  'REG-04.1 %s to %s is legal exactly when the table says so',
  (from, to) => {
    expect(mayFollow(from, to)).toBe(LEGAL.has(`${from} ${to}`));
  },
);

test('REG-04 a version leaves step by step, and each step of the way is legal', () => {
  expect(wayOut('active', 'removed')).toEqual(['deprecated', 'sunset', 'removed']);
  expect(wayOut('deprecated', 'removed')).toEqual(['sunset', 'removed']);
  expect(wayOut('sunset', 'removed')).toEqual(['removed']);
  expect(wayOut('removed', 'deprecated')).toEqual([]);
  for (const from of STATES) {
    let at = from;
    for (const next of wayOut(from, 'removed')) {
      expect(VERSION_TRANSITIONS[at]).toContain(next);
      at = next;
    }
  }
});
