import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileLinearPattern } from './linear-pattern.ts';

const corpus = new URL('../../../../../../../shared/corpora/redos/', import.meta.url);
const read = (name: string): { pattern: string; attack_input?: string }[] =>
  JSON.parse(readFileSync(new URL(name, corpus), 'utf8')).patterns;

describe('compileLinearPattern', () => {
  test.each([
    ['^[a-z]+$', 'abc', true],
    ['^[a-z]+$', 'abc\n', false],
    ['^\\S+@\\S+\\.\\S+$', 'a@b.c', true],
    ['^(foo|bar)-\\d{2,4}$', 'bar-123', true],
    ['^.{0,4096}$', 'x'.repeat(4096), true],
    ['^.{0,4096}$', 'x'.repeat(4097), false],
    ['^(?:a|b).{2,1500}$', `a${'x'.repeat(1500)}`, true],
    ['^(?:a|b).{2,1500}$', `a${'x'.repeat(1501)}`, false],
    ['^\\p{L}+(\\p{Number}|x)$', 'é1', true],
    ['^\\p{Script=Greek}+( )*$', 'αβ', true],
    ['^(\\ud83d\\ude00|x)$', '😀', true],
    ['(^|,)\\u0041', ',A', true],
    ['^(?<year>\\d{4})(-)?$', '2024', true],
    ['^[\\w-.]+(x)?$', 'a-b.c', true],
    ['^[^]*(x)$', '\nx', true],
    ['^(\\A)$', 'A', true],
    ['^[\\s\\S]+(a)?$', '\u00a0\n', true],
    ['^(\\s)$', '\u00a0', true],
    ['^a{,3}(b)?$', 'a{,3}', true],
  ])('%s judges as the native engine does', (pattern, text, expected) => {
    expect(compileLinearPattern(pattern).test(text)).toBe(expected);
    const native = (() => {
      try {
        return new RegExp(pattern, 'u');
      } catch {
        return new RegExp(pattern);
      }
    })();
    expect(native.test(text)).toBe(expected);
  });

  test.each([
    ['(?=a)b', 'look-around'],
    ['(?!a)b', 'look-around'],
    ['(?<=a)b', 'look-around'],
    ['(?<!a)b', 'look-around'],
    ['(a)\\1', 'back-reference'],
    ['(?<n>a)\\k<n>', 'back-reference'],
    ['(?:ab){1,5000}', 'repeat count'],
    ['(?:(?:x{900}){900}){900}', 'repeat'],
    ['a(', 'Unterminated group'],
    ['^(?:a|b).{2,90000}$', 'too large'],
    ['(?:(?:ab){60}c){60}', 'too large'],
    ['(a|b){200000}', 'exceeds'],
  ])('%s is refused: %s', (pattern, why) => {
    expect(() => compileLinearPattern(pattern)).toThrow(why);
  });

  test('a pattern of more than 4096 characters is refused', () => {
    expect(compileLinearPattern(`^${'x'.repeat(4095)}`).test('x')).toBe(false);
    expect(() => compileLinearPattern('x'.repeat(4097))).toThrow('longer than');
  });

  test('agrees with the native engine on generated patterns', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', '\\s', '(a|b)', '(?:ab)', '\\.', '\\b');
    const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '+?');
    const piece = fc.tuple(atom, quantifier).map(([a, q]) => (a === '\\b' ? a : a + q));
    const pattern = fc
      .tuple(fc.constantFrom('', '^'), fc.array(piece, { maxLength: 5 }), fc.constantFrom('', '$'))
      .map(([start, pieces, end]) => start + pieces.join('') + end);
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '1', '.', ' ', '\n', '\u00a0', 'é'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (source, input) => {
        expect(compileLinearPattern(source).test(input)).toBe(new RegExp(source, 'u').test(input));
      }),
      { numRuns: 2000 },
    );
  });

  test('the nested quantifier that hangs a backtracking engine ends at once', () => {
    expect(compileLinearPattern('^(a+)+$').test(`${'a'.repeat(100_000)}!`)).toBe(false);
    expect(compileLinearPattern('^a*a*a*a*b').test('a'.repeat(100_000))).toBe(false);
    expect(compileLinearPattern('a*b').test('a'.repeat(100_000))).toBe(false);
    // The first alternative alone is bound to the start of the text.
    expect(compileLinearPattern('^b|a*c').test('a'.repeat(500_000))).toBe(false);
    expect(compileLinearPattern(`^${'a?'.repeat(40)}${'a'.repeat(40)}b`).test('a'.repeat(40))).toBe(false);
  });

  test.skipIf(!existsSync(corpus))('evil patterns of the corpus are refused or end on long attacks', () => {
    for (const { pattern, attack_input = 'a' } of read('evil_patterns.json')) {
      const compiled = (() => {
        try {
          return compileLinearPattern(pattern);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          return undefined;
        }
      })();
      compiled?.test(attack_input.repeat(2000));
    }
  });

  test.skipIf(!existsSync(corpus))('safe patterns of the corpus are accepted', () => {
    const refused = read('safe_patterns.json').filter(({ pattern }) => {
      try {
        compileLinearPattern(pattern);
        return false;
      } catch (error) {
        return !/look-around|back-reference/.test(String(error));
      }
    });
    expect(refused.map(({ pattern }) => pattern)).toEqual([]);
  });
});
