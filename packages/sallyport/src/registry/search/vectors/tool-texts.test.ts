import { MiB } from '@sallyport/std/bytes';
import { expect, test } from 'vitest';
import { tool } from '../search.fixture.ts';
import { toolTexts } from './tool-texts.ts';

const textsOf = (...given: Parameters<typeof tool>): readonly string[] => toolTexts(tool(...given).manifest).texts;

test('a tool is its description, and name, description and parameters together', () => {
  const parameters_schema = { type: 'object', properties: { dueDate: {}, user_id: {} } };
  expect(textsOf('createIssue', 'Opens a ticket.', { parameters_schema })).toEqual([
    'Opens a ticket.',
    'create Issue. Opens a ticket. due Date, user id',
  ]);
  expect(textsOf('createIssue', '')).toEqual(['create Issue.']);
});

test('REG-06 the hash follows the texts and nothing else', () => {
  const one = toolTexts(tool('a', 'Same.').manifest).contentHash;
  expect(toolTexts(tool('a', 'Same.', { version: '2.0.0', tags: ['other'] }).manifest).contentHash).toBe(one);
  expect(toolTexts(tool('a', 'Other.').manifest).contentHash).not.toBe(one);
  expect(toolTexts(tool('b', 'Same.').manifest).contentHash).not.toBe(one);
});

test('a description of 5 MB gives short texts', () => {
  for (const text of textsOf('a', 'word '.repeat(MiB))) expect(text.length).toBeLessThanOrEqual(600);
  for (const text of textsOf('a', '\ud800'.repeat(5000))) expect(text.isWellFormed()).toBe(true);
});
