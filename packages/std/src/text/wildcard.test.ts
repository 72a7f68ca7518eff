import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wildcardMatcher } from './wildcard.ts';

describe('wildcardMatcher', () => {
  test('agrees with a regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    fc.assert(
      fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 }), (pattern, text) => {
        const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text);
        expect(wildcardMatcher(pattern)(text)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test('many stars end at once', () => {
    expect(wildcardMatcher('*a'.repeat(2000))('b'.repeat(100_000))).toBe(false);
    expect(wildcardMatcher(`${'*a'.repeat(2000)}b`)('a'.repeat(100_000))).toBe(false);
  });
});
