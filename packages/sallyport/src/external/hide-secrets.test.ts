import { expect, test } from 'vitest';
import { hideInValue, hideSecrets } from './hide-secrets.ts';

const SECRET = 'p"ss/wörd 1';
const hide = hideSecrets(
  new Map([
    ['KEY', SECRET],
    ['PIN', '12345'],
  ]),
);
const plain = hideSecrets(new Map([['key', 'sesame-42']]));
const nested = (levels: number): unknown => (levels === 0 ? 'sesame-42' : [nested(levels - 1)]);

test('a secret is hidden as it stands, in base64, in hexadecimal, in a URL and with JSON escapes', () => {
  const bytes = Buffer.from(SECRET);
  const forms = [SECRET, bytes.toString('base64'), bytes.toString('hex'), 'p%22ss%2Fw%C3%B6rd%201', 'p\\"ss/wörd 1'];
  for (const form of forms) expect(hide(`<${form}>`)).toBe('<[hidden]>');
});

test('a secret is hidden in base64 of a longer text, wherever it stands in it and in either alphabet', () => {
  for (const before of ['', 'a', 'ab', 'abc', 'user:']) {
    for (const alphabet of ['base64', 'base64url'] as const) {
      const shown = hide(Buffer.from(`${before}${SECRET}, and more`).toString(alphabet));
      expect(shown).toContain('[hidden]');
      expect(Buffer.from(shown.split('[hidden]')[0] ?? '', alphabet).toString()).not.toContain(SECRET.slice(0, 3));
    }
  }
});

test('a secret that is too short to tell from other text stays, and so does everything else', () => {
  expect(hide('code 12345, nothing else')).toBe('code 12345, nothing else');
  expect(hideSecrets(new Map())(SECRET)).toBe(SECRET);
});

test('a credential is taken out of texts, names of members and encodings, and everything else stays', () => {
  const result = {
    content: [
      { type: 'text', text: 'Bearer sesame-42' },
      { type: 'text', text: btoa('sesame-42') },
    ],
    structuredContent: { 'sesame-42': [1, null, true, { deep: 'sesame-42' }] },
    isError: false,
  };
  expect(hideInValue(result, plain)).toEqual({
    content: [
      { type: 'text', text: 'Bearer [hidden]' },
      { type: 'text', text: '[hidden]' },
    ],
    structuredContent: { '[hidden]': [1, null, true, { deep: '[hidden]' }] },
    isError: false,
  });
  const clean = { content: [{ type: 'text', text: 'nothing' }] };
  expect(hideInValue(clean, plain)).toBe(clean);
  const named = JSON.parse('{"__proto__":{"a":"sesame-42"}}');
  expect(JSON.stringify(hideInValue(named, plain))).toBe('{"__proto__":{"a":"[hidden]"}}');
});

test('a value is searched to its depth, and refused when it is too deep for that', () => {
  expect(JSON.stringify(hideInValue(nested(512), plain))).not.toContain('sesame-42');
  expect(() => hideInValue(nested(513), plain)).toThrow(expect.objectContaining({ code: 'E3308' }));
});
