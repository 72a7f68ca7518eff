import { expect, test } from 'vitest';
import { WORDS_MAX, wordsOf } from './words.ts';

test('names are split where their parts meet', () => {
  expect(wordsOf('createIssue list_files HTTPServer get-user v2Api')).toEqual([
    ...['creat', 'issu', 'list', 'file', 'http', 'server', 'get', 'user', 'v2', 'api'],
  ]);
});

test('words that say nothing are left out', () => {
  expect(wordsOf('Can you please help me with the weather?')).toEqual(['weather']);
  expect(wordsOf('the of and')).toEqual([]);
});

test('scripts without spaces are read two signs at a time', () => {
  expect(wordsOf('天気予報')).toEqual(['天気', '気予', '予報']);
  expect(wordsOf('k8s天x')).toEqual(['k8s', 'x', '天']);
  expect(wordsOf('雨')).toEqual(['雨']);
});

test('signs, emoji and lone surrogates are no words', () => {
  for (const text of ['', ' \n\t', '🙂'.repeat(4096), '!!! ??? …', '\ud83d', '\ud800']) {
    expect(wordsOf(text), text.slice(0, 8)).toEqual([]);
  }
});

test('a text has so many words at most', () => {
  expect(wordsOf('alpha '.repeat(WORDS_MAX + 1))).toHaveLength(WORDS_MAX);
  expect(wordsOf('天気'.repeat(WORDS_MAX))).toHaveLength(WORDS_MAX);
});
