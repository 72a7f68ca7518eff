import { expect, test } from 'vitest';
import { failureRedactorOf, redactorOf } from './redactor.ts';

test('what is taken out of results is taken out of what tools say of their failures too, beside what no record holds', () => {
  const said = 'ann.lee@example.org wrote /home/ann/notes.txt';
  const base = { 'redact.kinds': ['email'], 'redact.fields': [] };
  const recorded = redactorOf(base);
  expect(failureRedactorOf({ ...base, 'redact.results': [] }, recorded)).toBe(recorded);
  const both = failureRedactorOf({ ...base, 'redact.results': ['path'] }, recorded);
  expect(both.text(said).text).toBe('[REDACTED:email] wrote [REDACTED:path]/notes.txt');
  expect(recorded.text(said).text).toBe('[REDACTED:email] wrote /home/ann/notes.txt');
});
