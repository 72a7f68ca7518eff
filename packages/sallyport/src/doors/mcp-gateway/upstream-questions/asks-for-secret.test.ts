import { expect, it } from 'vitest';
import { asksForSecret } from './asks-for-secret.ts';

const form = (name: string, title?: string) => ({
  type: 'object',
  properties: { harmless: { type: 'string' }, [name]: { type: 'string', ...(title === undefined ? {} : { title }) } },
});

it.each<[string, string?]>([
  ['password'],
  ['userPassword'],
  ['API_KEY'],
  ['api-key'],
  ['apikey'],
  ['client_secret'],
  ['accessToken'],
  ['cardNumber'],
  ['x', 'Your passphrase'],
  ['x', 'CVC (three digits)'],
])('EXE-07 a form with the field %s %s asks for a secret', (name, title) => {
  expect(asksForSecret(form(name, title))).toBe(true);
});

it.each<[string, string?]>([
  ['tokens'],
  ['tokenCount'],
  ['passenger'],
  ['secretary'],
  ['keyboard'],
  ['key'],
  ['x', 'Passing grade'],
])('a form with the field %s %s does not', (name, title) => {
  expect(asksForSecret(form(name, title))).toBe(false);
});

it('what is no form asks for nothing', () => {
  for (const schema of [undefined, null, 'password', [], {}, { properties: ['password'] }, { properties: { a: 1 } }])
    expect(asksForSecret(schema)).toBe(false);
});
