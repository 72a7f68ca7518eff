import { expect, test } from 'vitest';
import { createKeywordIndex, type KeywordIndex } from './keyword-index.ts';

function indexOf(...texts: string[]): KeywordIndex {
  const index = createKeywordIndex();
  for (const [slot, text] of texts.entries()) index.add(slot, [{ text, weight: 1, usualWords: 4 }]);
  return index;
}

const found = (index: KeywordIndex, query: string, slots: number, allowed?: Uint8Array): number[] => {
  const { hits, scores } = index.search(query, slots, allowed);
  return [...hits].sort((one, other) => (scores[other] as number) - (scores[one] as number) || one - other);
};

test('a text with more and rarer words of the query comes first', () => {
  const index = indexOf('reads mail', 'reads files', 'sends mail to people', 'deletes files');
  expect(found(index, 'sending of mails', 4)).toEqual([2, 0]);
  expect(found(index, 'nothing here', 4)).toEqual([]);
  expect(found(index, '', 4)).toEqual([]);
});

test('a short text with a word goes before a long one', () => {
  const index = indexOf(`mail ${'and other things that it does '.repeat(5)}`, 'mail');
  expect(found(index, 'mail', 2)).toEqual([1, 0]);
});

test('a field with more weight counts more', () => {
  const index = createKeywordIndex();
  index.add(0, [{ text: 'mail', weight: 0.5, usualWords: 4 }]);
  index.add(1, [{ text: 'mail', weight: 2, usualWords: 4 }]);
  expect(found(index, 'mail', 2)).toEqual([1, 0]);
});

test('what is not allowed is not found', () => {
  const index = indexOf('mail', 'mail', 'mail');
  expect(found(index, 'mail', 3, Uint8Array.of(1, 0, 1))).toEqual([0, 2]);
});

test('a removed text is not found, and its share is known', () => {
  const index = indexOf('mail', 'mail', 'files', 'files');
  index.remove(1);
  expect(found(index, 'mail', 4)).toEqual([0]);
  expect(index.emptyShare()).toBe(0.25);
  expect(createKeywordIndex().emptyShare()).toBe(0);
});

test('a text that came after the search began is not looked at', () => {
  expect(found(indexOf('mail', 'mail'), 'mail', 1)).toEqual([0]);
});

test('the beginning of a word finds it, but not in a sentence', () => {
  const index = indexOf('github issues', 'gitlab issues', 'weather');
  expect(found(index, 'githu', 3)).toEqual([0]);
  expect(found(index, 'gi', 3)).toEqual([]);
  expect(found(index, 'weat', 3)).toEqual([2]);
  expect(found(index, 'weat photosynthesis chlorophyll sunlight', 3)).toEqual([]);
});

test('a word that stands in every text tells them apart no less than others of its kind', () => {
  const { scores } = indexOf('tool', 'tool', 'tool').search('tool', 3);
  expect(new Set(scores).size).toBe(1);
  expect(scores[0]).toBeGreaterThan(0);
});

test('words of objects of JavaScript are words', () => {
  expect(found(indexOf('constructor', '__proto__ toString'), 'constructor', 2)).toEqual([0]);
  expect(found(indexOf('constructor', 'toString'), 'to string', 2)).toEqual([1]);
});
