import { expect, test } from 'vitest';
import { queryTexts } from './query-texts.ts';

test('a query of one sentence is asked as it is', () => {
  expect(queryTexts('  What is\n the weather? ')).toEqual(['What is the weather?']);
  expect(queryTexts('Hi! Short one. Yes.')).toEqual(['Hi! Short one. Yes.']);
});

test('sentences are asked for beside the whole, so that each request is met', () => {
  const query = 'Book a flight to Rome. Then find me a hotel there! Version 3.5 of file.txt matters.';
  expect(queryTexts(query)).toEqual([
    query,
    'Book a flight to Rome.',
    'Then find me a hotel there!',
    'Version 3.5 of file.txt matters.',
  ]);
  expect(queryTexts(`${'One more sentence here. '.repeat(20)}`)).toHaveLength(4);
});

test('what holds no letter and no digit means nothing', () => {
  for (const query of ['', '   ', '?!', '🙂'.repeat(2048), '\ud800']) expect(queryTexts(query)).toEqual([]);
});

test('of a long query the beginning is asked, well formed', () => {
  const [whole] = queryTexts(`x${'🙂'.repeat(4096)}`);
  expect(whole?.length).toBe(1000);
  expect(whole?.isWellFormed()).toBe(true);
});
