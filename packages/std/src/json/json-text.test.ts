import { expect, test } from 'vitest';
import { quoted } from './json-text.ts';

test('a string is quoted as JSON.stringify does it, whatever it holds', () => {
  const strings = ['', 'did:web:one', ' !#[]~', '"', '\\', '\x7f', '\x1f', '\n', 'a\0b', 'é', '🙂', '\ud800', '\u2028'];
  for (let code = 0; code < 300; code += 1) strings.push(`a${String.fromCharCode(code)}`);
  for (const text of strings) expect(quoted(text)).toBe(JSON.stringify(text));
});
