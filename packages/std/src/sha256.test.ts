import { expect, test } from 'vitest';
import { sha256 } from './sha256.ts';

test('the hash is that of FIPS 180-4, in lower-case hex', () => {
  expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('a text is hashed as UTF-8, as are its bytes', () => {
  expect(sha256('größe')).toBe(sha256(new TextEncoder().encode('größe')));
  expect(sha256('größe')).not.toBe(sha256('grosse'));
});
