import { expect, test } from 'vitest';
import { rememberLast } from './remember-last.ts';

test('only another value than the last is asked for, undefined as the first one too', () => {
  const asked: unknown[] = [];
  const told = rememberLast((given: string | undefined) => {
    asked.push(given);
    return `${given}`;
  });
  expect([undefined, undefined, 'a', 'a', 'b', 'a'].map(told)).toEqual(['undefined', 'undefined', 'a', 'a', 'b', 'a']);
  expect(asked).toEqual([undefined, 'a', 'b', 'a']);
});
