import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { isSealed, openText, SEALING_KEY_BYTES, sealText } from './sealed-text.ts';

const key = randomBytes(SEALING_KEY_BYTES);

test('EXT-01 a sealed text opens with its key and in its place alone', () => {
  for (const text of ['', 'ghp_secret', 'ü 🙂 "\n']) {
    const sealed = sealText(key, text, 'here');
    expect(isSealed(sealed)).toBe(true);
    expect(openText(key, sealed, 'here')).toBe(text);
    expect(openText(key, sealed, 'there')).toBeUndefined();
    expect(openText(randomBytes(SEALING_KEY_BYTES), sealed, 'here')).toBeUndefined();
    expect(openText(key, sealed.slice(0, -8), 'here')).toBeUndefined();
  }
  expect(openText(key, 'sealed:1:', 'here')).toBeUndefined();
  expect(sealText(key, 'same', 'here')).not.toBe(sealText(key, 'same', 'here'));
});
