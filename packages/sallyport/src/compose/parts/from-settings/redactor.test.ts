import { expect, test } from 'vitest';
import { redactorOf } from './redactor.ts';

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
