import { describe, expect, test } from 'vitest';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import { agreesWithContext, coversTool, coversToolId, otherTool } from '../token-scope.ts';

const claims = (over: Partial<CapabilityClaims> = {}): CapabilityClaims => ({
  tool_id: 'read',
  agent_did: 'did:a',
  tenant_id: 't',
  allowed_operations: ['execute'],
  exp: 2,
  iat: 1,
  iss: 'i',
  ...over,
});

describe('coversTool', () => {
  test.each<[Partial<CapabilityClaims>, string, string, boolean]>([
    [{}, 'read', '1.0.0', true],
    [{}, 'Read', '1.0.0', false],
    [{}, 'reader', '1.0.0', false],
    [{ tool_id: 'files__*' }, 'files__read', '1.0.0', true],
    [{ tool_id: 'files__*' }, 'other__files__read', '1.0.0', false],
    [{ tool_id: '*' }, 'x', '1.0.0-beta', true],
    [{ tool_version: '*' }, 'read', '1.0.0-beta', true],
    [{ tool_version: '^2.0.0' }, 'read', '2.9.9', true],
    [{ tool_version: '^2.0.0' }, 'read', '3.0.0', false],
    [{ tool_version: '^2.0.0' }, 'read', '2.1.0-beta', false],
    [{ tool_version: '2.0.0' }, 'read', '2.0.1', false],
    [{ tool_version: 'latest' }, 'read', '1.0.0', false],
    [{ tool_version: 'rubbish' }, 'read', '1.0.0', false],
    [{ allowed_operations: ['*'] }, 'read', '1.0.0', true],
    [{ allowed_operations: [] }, 'read', '1.0.0', false],
    [{ allowed_operations: ['list'] }, 'read', '1.0.0', false],
  ])('PRM-01.2 %j for %s %s: %s', (over, id, version, expected) => {
    const token = claims(over);
    for (const _twice of [1, 2]) expect(coversTool(token, id, version)?.code).toBe(expected ? undefined : 'E3209');
  });
});

test('PRM-01.2 a refusal says what the token is for, and what was asked', () => {
  const token = claims({ tool_version: '^2.0.0', allowed_operations: ['list'] });
  expect(coversTool(token, 'x', '1.0.0')?.message).toBe('The capability token is for tool "read", not for "x".');
  expect(coversTool(token, 'read', '1.0.0')?.message).toBe(
    'The capability token is for version "^2.0.0" of "read", not for 1.0.0.',
  );
  expect(coversTool(token, 'read', '2.0.0')).toMatchObject({
    code: 'E3209',
    message: 'The capability token does not allow the operation "execute".',
    details: { allowed_operations: ['list'] },
  });
  expect(otherTool(token, 'n'.repeat(200)).message).toBe(
    `The capability token is for tool "read", not for "${'n'.repeat(128)}".`,
  );
  expect([coversToolId(token, 'read'), coversToolId(token, 'x')]).toEqual([true, false]);
});

test('PRM-10 a tool that needs a scope which the access token lacks is refused, with the scopes of a token that would do', () => {
  const token = claims({
    tool_id: '*',
    tool_scopes: [
      { tool: 'pay*', scope: 'payments', held: false },
      { tool: 'read*', scope: 'files', held: true },
      { tool: 'read_all', scope: 'everything', held: false },
      { tool: 'write*', scope: 'files', held: true },
    ],
  });
  expect(coversTool(token, 'pay_bill', '1.0.0')).toMatchObject({
    code: 'E3215',
    message: 'The tool "pay_bill" is called with the scope payments, which the access token lacks.',
    details: { scope: 'payments', scopes: ['files', 'payments'] },
  });
  for (const free of ['read', 'read_all', 'other']) expect(coversTool(token, free, '1.0.0')).toBeUndefined();
});

describe('agreesWithContext', () => {
  test.each([
    [undefined, true],
    [{}, true],
    [{ agent_did: 'did:a', tenant_id: 't' }, true],
    [{ agent_did: 'did:b', tenant_id: 't' }, false],
    [{ agent_did: 'did:a', tenant_id: 'T' }, false],
    [{ agent_did: 'did:a', tenant_id: 't', user_did: 'u' }, true],
  ])('%j: %s', (context, expected) => {
    expect(agreesWithContext(claims(), context)?.code).toBe(expected ? undefined : 'E3209');
  });

  test('a token for one user or session speaks for no other', () => {
    expect(agreesWithContext(claims({ user_did: 'u' }), { user_did: 'v' })?.code).toBe('E3209');
    expect(agreesWithContext(claims({ session_id: 's' }), { session_id: 't' })?.code).toBe('E3209');
    expect(agreesWithContext(claims({ session_id: 's' }), { session_id: 's' })).toBeUndefined();
    expect(agreesWithContext(claims({ session_id: 's' }), { agent_did: 'did:a' })).toBeUndefined();
    expect(agreesWithContext(claims(), { session_id: 't', tenant_id: 'other' })?.message).toBe(
      'The capability token was given to another tenant_id than the request names.',
    );
  });
});
