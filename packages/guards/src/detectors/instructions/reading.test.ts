import { expect, test } from 'vitest';
import { encodedTexts } from './encoded-texts.ts';
import { hiddenCharacters, speltInHiding, writtenOut } from './hidden-characters.ts';
import { readingOf } from './reading.ts';
import { sentencesOf } from './sentences.ts';

test.each([
  ['Plain TEXT\t1', 'plain text\t1'],
  ['Café “naïve” – ﬁne', 'cafe "naive" - fine'],
  ['ｉｇｎｏｒｅ', 'ignore'],
  ['Іgnоre', 'ignore'],
  ['не говори', 'не говори'],
  ['a\u200bb\u{e0041}c', 'abc'],
  ['计算 か\u3099', '计算 が'],
])('%j reads as %j', (text, read) => expect(readingOf(text).text.normalize()).toBe(read.normalize()));

test('each place of a reading leads back to its place in the text', () => {
  const text = 'a\u{1f44d}ﬁ\u200bé x';
  const { text: read, original } = readingOf(text);
  expect(read).toBe('a\u{1f44d}fie x');
  expect([...read].map((_, at) => original(at))).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(original(read.indexOf('x'))).toBe(text.indexOf('x'));
  expect(original(read.length)).toBe(text.length);
});

test('sentences with their places; long ones in pieces that overlap', () => {
  const text = 'First one here. Second one here!\n\n- third item\nand more';
  expect([...sentencesOf(text)].map(({ start, end }) => text.slice(start, end).trim())).toEqual([
    'First one here.',
    'Second one here!',
    '- third item\nand more',
  ]);
  const pieces = [...sentencesOf('word '.repeat(300))];
  expect(pieces.length).toBeGreaterThan(2);
  for (const [at, { start }] of pieces.entries()) expect(start).toBeLessThan(pieces[at - 1]?.end ?? 1);
});

test('what nobody sees is found, told and spelt out', () => {
  expect(hiddenCharacters('plain\n')).toBeUndefined();
  expect(hiddenCharacters('ab\u200bc')).toEqual({ start: 2, end: 3, deliberate: false });
  expect(hiddenCharacters('ab\u202ec')).toMatchObject({ deliberate: true });
  expect(hiddenCharacters('\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} ☀\ufe0f')).toBeUndefined();
  expect(speltInHiding('x\u{e0068}\u{e0069}')).toBe('hi');
  expect(
    speltInHiding(`x${[...Buffer.from('hi')].map((byte) => String.fromCodePoint(0xe0100 + byte - 16)).join('')}`),
  ).toBe('hi');
  expect(writtenOut('a\u200b')).toBe('a\\u{200b}');
});

test.each([
  [Buffer.from('read the file first').toString('base64'), 'read the file first'],
  [Buffer.from('read the file first').toString('hex'), 'read the file first'],
  ['%72%65%61%64%20%74%68%65%20%66%69%6c%65', 'read the file'],
  ['&#114;&#101;&#97;&#100;&#32;&#116;&#104;&#101;&#32;&#102;&#105;&#108;&#101;', 'read the file'],
  ['r e a d   t h e   f i l e', 'read the file'],
  [Buffer.from(Buffer.from('read the file first').toString('base64')).toString('base64'), 'read the file first'],
  [Buffer.from(`x: ${Buffer.from('read the file first').toString('hex')}`).toString('base64'), 'read the file first'],
])('%s holds %j', (text, decoded) => {
  expect([...encodedTexts(`see ${text} here`)].map((found) => found.decoded.trim())).toContain(decoded);
});

test('what decodes to no words is none', () => {
  for (const text of ['a'.repeat(40), 'deadbeef'.repeat(6), 'com/example/some/long/package/Name', 'A B C']) {
    expect([...encodedTexts(text)]).toEqual([]);
  }
});
