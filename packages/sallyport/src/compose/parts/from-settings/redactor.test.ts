import { expect, test } from 'vitest';
import { failureRedactorOf, redactorOf } from './redactor.ts';

const of = (...kinds: string[]) => redactorOf({ 'redact.kinds': kinds, 'redact.fields': [] });
const TEXT = 'ann@example.org, password: tr0ub4dor&3, see ~/.ssh/id_rsa';

test.each([
  [['personal'], '[REDACTED:email], password: tr0ub4dor&3, see ~/.ssh/id_rsa'],
  [['secrets', 'paths'], 'ann@example.org, password: [REDACTED:password], see [REDACTED:path]'],
  [['email', 'paths'], '[REDACTED:email], password: tr0ub4dor&3, see [REDACTED:path]'],
])('MOD-06.4 kinds may be named by their groups: %j', (names, shown) => {
  expect(of(...names).text(TEXT).text).toBe(shown);
});

test('a name that is neither is refused, also one that every object has', () => {
  for (const name of ['passwords', 'constructor', '']) {
    expect(() => of('email', name)).toThrow(expect.objectContaining({ code: 'E3801' }));
  }
});

test('what is taken out of results is taken out of what tools say of their failures too, beside what no record holds', () => {
  const said = 'ann.lee@example.org wrote /home/ann/notes.txt';
  const base = { 'redact.kinds': ['email'], 'redact.fields': [] };
  const recorded = redactorOf(base);
  expect(failureRedactorOf({ ...base, 'redact.results': [] }, recorded)).toBe(recorded);
  const both = failureRedactorOf({ ...base, 'redact.results': ['path'] }, recorded);
  expect(both.text(said).text).toBe('[REDACTED:email] wrote [REDACTED:path]/notes.txt');
  expect(recorded.text(said).text).toBe('[REDACTED:email] wrote /home/ann/notes.txt');
});
