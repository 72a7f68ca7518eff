import { describe, expect, test } from 'vitest';
import { compileLinearPattern } from './linear-pattern.ts';
import { translatePattern } from './translate-pattern.ts';

/** Latin, and what the engines see differently: spaces of every kind, ends of lines, other scripts, symbols of two units. */
const CHARACTERS = [
  ...Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code)),
  ...'αΩЖ١ßK\u1680\u2000\u200a\u200b\u2027\u2028\u2029\u202a\u202f\u205f\u3000\ufeff\uffff😀\u{10ffff}',
];

test.each([
  ...['.', 'a', '😀', '-', '/', '~'],
  ...['\\d', '\\D', '\\w', '\\W', '\\s', '\\S'],
  ...['[\\d]', '[^\\D]', '[\\w-]', '[^\\W]', '[\\s]', '[^\\s]', '[\\S]', '[^\\S]', '[\\s\\S]', '[\\d\\S]', '[^\\s\\d]'],
  ...['\\t', '\\n', '\\v', '\\f', '\\r', '\\0', '[\\b]', '[\\0-\\x1f]', '\\cJ', '\\cz', '[\\cA-\\cZ]'],
  ...['\\x41', '\\u0041', '\\u{41}', '\\u{1F600}', '\\ud83d\\ude00', '\\uD83D\\uDE00', '[\\u0041-\\u0043\\x61]'],
  ...['\\p{L}', '\\P{L}', '\\p{Lu}', '[\\p{Lu}x]', '[^\\P{Nd}]', '\\p{Script=Greek}', '\\p{sc=Latin}', '\\p{gc=Nd}'],
  ...['Lowercase_Letter', 'Titlecase_Letter', 'Uppercase_Letter', 'Mark', 'Number', 'Decimal_Number'].map(
    (name) => `\\p{${name}}`,
  ),
  ...['Punctuation', 'Symbol', 'Separator', 'Space_Separator', 'Control'].map((name) => `\\P{${name}}`),
  ...['[]', '[^]', '[^a-c]', '[a\\-z]', '[\\]]', '[\\^a]', '[a^]', '[^^]', '[[:alpha:]]', '[&~]', '[a-z&]', '[😀-😂]'],
  ...['\\.', '\\*', '\\+', '\\?', '\\(', '\\)', '\\[', '\\{', '\\}', '\\|', '\\^', '\\$', '\\\\', '\\/'],
  // Valid without the `u` flag alone.
  ...['{', '}', ']', '\\A', '\\z', '\\Q', '\\e', '\\é', '\\_', '\\k', '[\\k]', '[[]', '[&&]', '[[a]', '\\-', '\\@'],
])('VAL-05.2 one character judged by %s is judged as by the native engine', (atom) => {
  const native = (() => {
    try {
      return new RegExp(`^(?:${atom})$`, 'u');
    } catch {
      return new RegExp(`^(?:${atom})$`);
    }
  })();
  const linear = compileLinearPattern(`^(?:${atom})$`);
  const differing = CHARACTERS.filter((character) => linear.test(character) !== native.test(character));
  expect(differing).toEqual([]);
});

describe('what a pattern is for RE2, whether the native engine may judge by it, and its size', () => {
  const DOT = '[^\\n\\r\\x{2028}\\x{2029}]';
  test.each<[pattern: string, re2: string, cannotBacktrack: boolean, atoms: number]>([
    ['', '', true, 0],
    ['a.b', `a${DOT}b`, true, 3],
    ['^a$', '\\Aa\\z', true, 1],
    ['\\b\\B', '\\b\\B', true, 0],
    ['a*', 'a*', false, 1],
    ['a*?', 'a*?', false, 1],
    ['a?b', 'a?b', false, 2],
    ['^a*b', '\\Aa*b', true, 2],
    ['^a+?b', '\\Aa+?b', true, 2],
    ['^a??b', '\\Aa??b', true, 2],
    ['^a*b*', '\\Aa*b*', false, 2],
    ['^a{2}b{3,}c{4}', '\\Aa{2}b{3,}c{4}', true, 9],
    ['^a{1,3}', '\\Aa{1,3}', true, 3],
    ['a{2,4}?', 'a{2,4}?', false, 4],
    ['a{2}?b{3,3}', 'a{2}?b{3,3}', true, 5],
    ['a{0}b', 'a{0}b', true, 2],
    ['(a)', '(?:a)', false, 1],
    ['a|b', 'a|b', false, 2],
    ['(?:ab){2,3}c', '(?:ab){2,3}c', false, 7],
    ['(?<name>ab)c', '(?:ab)c', false, 3],
    ['((a)b)*', '(?:(?:a)b)*', false, 2],
    ['(a{3}b){4}(c){2,}', '(?:a{3}b){4}(?:c){2,}', false, 18],
    ['()', '(?:)', false, 0],
    ['\\ud83d\\ude00{2}', '😀{2}', true, 2],
    ['😀+', '😀+', false, 1],
    ['\\ud83d', '\\x{d83d}', true, 1],
    // A row of fixed length is tried at every position of a text, or at its start alone.
    ['a{256}', 'a{256}', true, 256],
    ['a{257}', 'a{257}', false, 257],
    ['^a{257}', '\\Aa{257}', true, 257],
    ['^a?b{256}', '\\Aa?b{256}', true, 257],
    ['^a?b{257}', '\\Aa?b{257}', false, 258],
    ['^a{257}b?c', '\\Aa{257}b?c', true, 259],
    // RE2 takes a thousand repetitions at once.
    ['^a{1000}', '\\Aa{1000}', true, 1000],
    ['^a{1001}', '\\Aa{1000,1000}a{1,1}', true, 1001],
    ['a{2000}', 'a{1000,1000}a{1000,1000}', false, 2000],
    ['a{1000,2000}', 'a{1000,1000}a{0,1000}', false, 2000],
    ['a{1500,}', 'a{1000,1000}a{500,500}a*', false, 1500],
    ['.{2,1500}', `${DOT}{2,2}${DOT}{0,1000}${DOT}{0,498}`, false, 1500],
    ['(ab){1000}', '(?:ab){1000}', false, 2000],
    ['a{100000}', 'a{1000,1000}'.repeat(100), false, 100_000],
  ])('VAL-05.2 of %s', (pattern, re2, cannotBacktrack, atoms) => {
    expect(translatePattern(pattern, true)).toEqual({ re2, cannotBacktrack, atoms });
  });

  test.each([
    ['a{,3}', 'a\\{,3\\}', 5],
    ['\\p{L}', 'p\\{L\\}', 4],
    ['\\c1', 'c1', 2],
    ['\\x4', 'x4', 2],
    ['\\u00', 'u00', 3],
  ])('VAL-05.2 of %s, which is valid without the u flag alone', (pattern, re2, atoms) => {
    expect(translatePattern(pattern, false)).toEqual({ re2, cannotBacktrack: true, atoms });
  });

  test.each([
    ['ab(?=c)', 'look-around "(?=" at character 2'],
    ['(?!c)', 'look-around "(?!" at character 0'],
    ['a(?<=c)', 'look-around "(?<=" at character 1'],
    ['(?<!c)', 'look-around "(?<!" at character 0'],
    ['(?i:a)', 'inline flags at character 0'],
    ['a(?-i:a)', 'inline flags at character 1'],
    ['(a)\\1', 'back-reference "\\1" at character 3'],
    ['(?<n>a)\\k<n>', 'back-reference "\\k" at character 7'],
    ['[\\2]', 'back-reference "\\2" at character 1'],
    ['a{100001}', 'the repeat count {100001} exceeds 100000'],
    ['a{100001,}', 'the repeat count {100001,} exceeds 100000'],
    ['a{1,100001}?', 'the repeat count {1,100001}? exceeds 100000'],
    ['(a){1001}', 'the repeat count {1001} of a group exceeds 1000'],
    ['(a){1001,}', 'the repeat count {1001,} of a group exceeds 1000'],
  ])('VAL-05.2 of %s there is none: %s', (pattern, why) => {
    expect(() => translatePattern(pattern, true)).toThrow(new SyntaxError(why));
  });
});
