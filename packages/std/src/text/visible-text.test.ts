import { expect, test } from 'vitest';
import { visibleLine, visibleText } from './visible-text.ts';

test.each([
  ['plain', 'plain'],
  ['é 漢 👍\n', 'é 漢 👍\n'],
  ['\u001b[2Jgone', '\\u{001b}[2Jgone'],
  ['\u202etxt', '\\u{202e}txt'],
  ['a\u200bb\r\n', 'a\\u{200b}b\\u{000d}\n'],
  ['\u{e0041}', '\\u{e0041}'],
  ['\ud800', '\\u{d800}'],
])('%j is seen as %j', (text, seen) => expect(visibleText(text, 100)).toBe(seen));

test('what is cut is counted, and no character is halved', () => {
  expect(visibleText('abc', 3)).toBe('abc');
  expect(visibleText('abcd', 3)).toBe('abc… (1 more characters)');
  expect(visibleText('ab👍', 3)).toBe('ab… (2 more characters)');
});

test('a line stays one', () => expect(visibleLine('a\nb', 10)).toBe('a\\nb'));
