import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { callerCredential, presentedCredential } from './bearer.ts';

test.each([
  ['nothing', {}, undefined],
  ['a token', { authorization: 'bearer  t ' }, 't'],
  ['a key', { 'x-api-key': ' sp_a ' }, 'sp_a'],
  ['both: Authorization counts', { authorization: 'Bearer t', 'x-api-key': 'sp_a' }, 't'],
  ['a key beside another scheme: neither', { authorization: 'Basic dTpw', 'x-api-key': 'sp_a' }, undefined],
  ['an empty key', { 'x-api-key': ' ' }, undefined],
  ['two keys', { 'x-api-key': ['sp_a', 'sp_b'] }, undefined],
])('PRM-10 %s', (_name, headers, expected) => {
  expect(presentedCredential(headers)).toBe(expected);
});

const asked = (url: string, headers: object) => ({ method: 'POST', url, headers }) as unknown as IncomingMessage;

test.each([
  ['/mcp?tools=meta', '/mcp'],
  ['/mcp', '/mcp'],
  ['http://layer.example/mcp?tools=meta', '/mcp'],
  ['*', '*'],
])('PRM-11 a token of the scheme DPoP comes with what its proof must be for: %s', (url, path) => {
  const headers = { authorization: 'dPoP  t ', dpop: 'proof', host: 'layer.example' };
  const proof = { jwt: 'proof', method: 'POST', host: 'layer.example', path };
  expect(callerCredential(asked(url, headers))).toEqual({ token: 't', proof });
});

test.each([
  ['no token', { authorization: 'DPoP ', dpop: 'proof' }, undefined],
  ['another scheme', { authorization: 'DPoPx t', dpop: 'proof' }, undefined],
  ['a bearer token', { authorization: 'Bearer t', dpop: 'proof' }, { token: 't' }],
  ['no proof', { authorization: 'DPoP t' }, { token: 't', proof: { jwt: '', method: 'POST', host: '', path: '/' } }],
])('PRM-11 %s', (_name, headers, expected) => {
  expect(callerCredential(asked('/', headers))).toEqual(expected);
});
