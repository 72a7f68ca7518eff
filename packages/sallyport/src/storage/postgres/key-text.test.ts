import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyOfText, keyText, shownText } from './key-text.ts';

const anyText = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '\0', '\ud800', '\udc00', '🙂', '\uFFFD', '\\', '"') }),
  fc.string(),
);

test('every key comes back from its text, and the text can be stored', () => {
  fc.assert(
    fc.property(anyText, (key) => {
      for (const each of [key, `json:${key}`]) {
        const text = keyText(each);
        expect(keyOfText(text)).toBe(each);
        expect(text.includes('\0') || !text.isWellFormed()).toBe(false);
      }
    }),
  );
});

test('an ordinary key is its own text', () => {
  for (const key of ['', 'acme', 'did:web:agent', '🙂', "'; drop table x; --"]) expect(keyText(key)).toBe(key);
});

test('shown text says where something could not be kept', () => {
  expect(shownText('a\0b\ud800c🙂')).toBe('a\uFFFDb\uFFFDc🙂');
});
