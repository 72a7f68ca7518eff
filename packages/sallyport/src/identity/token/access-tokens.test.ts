import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { isFailure } from '@sallyport/std/error/failure';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import type { TokenVerifierOptions } from '../capability-token.ts';
import { combinedKeys, fixedKeys, type KeySource } from '../key-source.ts';
import { ACCESS_RULES, verifierWith } from './verifier.fixture.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
const NOW = 1_800_000_000;
const ISSUER = 'https://as.example';
const ACCESS = {
  iss: ISSUER,
  sub: 'alice',
  aud: 'https://tools.example',
  client_id: 'editor',
  scope: 'tools:call',
  iat: NOW,
  exp: NOW + 60,
};
const KEY = { kid: 'as', key: publicKey };
const clock = { now: () => NOW * 1000, monotonic: () => 0 };

type AccessRules = NonNullable<TokenVerifierOptions['accessTokens']>;
const verifierOf = (rules: Partial<AccessRules> = {}) =>
  verifierWith({
    issuers: ['issuer'],
    clock,
    accessTokens: {
      ...ACCESS_RULES,
      issuer: ISSUER,
      keys: fixedKeys([KEY]),
      audiences: ['https://tools.example', 'https://tools.example/mcp'],
      roles: { 'tools:call': 'agent', 'layer:read': 'viewer', 'layer:view': 'viewer' },
      ...rules,
    },
  });
const sign = (claims: object, header: object = {}, key: KeyObject = privateKey) =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', ...header }).sign(key);
const judge = async (changes: object = {}, rules: Partial<AccessRules> = {}) =>
  verifierOf(rules).verify(await sign({ ...ACCESS, ...changes }));

describe('an access token of the authorization server', () => {
  test('PRM-10.2 becomes an agent, a user and a tenant, and calls what its scope allows', async () => {
    const claims = await judge();
    expect(claims).toStrictEqual({
      agent_did: 'oauth:editor',
      user_did: 'oauth:alice',
      tenant_id: 'acme',
      roles: ['agent'],
      tool_id: '*',
      allowed_operations: ['execute'],
      tool_scopes: [{ tool: '*', scope: 'tools:call', held: true }],
      iss: ISSUER,
      iat: NOW,
      exp: NOW + 60,
    });
    expect(Object.isFrozen(claims)).toBe(true);
    expect(await judge({ jti: 'j', nbf: NOW })).toMatchObject({ jti: 'j', nbf: NOW });
  });

  test('PRM-10 is of the client alone where the client speaks for itself, by whichever name it has', async () => {
    expect(await judge({ sub: 'editor' })).not.toHaveProperty('user_did');
    expect(await judge({ client_id: undefined, azp: 'batch' })).toMatchObject({
      agent_did: 'oauth:batch',
      user_did: 'oauth:alice',
    });
    const unnamed = await judge({ client_id: undefined });
    expect(unnamed).toMatchObject({ agent_did: 'oauth:alice' });
    expect(unnamed).not.toHaveProperty('user_did');
  });

  test('PRM-10 has the role of each of its scopes once, and none for another scope', async () => {
    expect(await judge({ scope: 'layer:read openid layer:view constructor' })).toMatchObject({
      roles: ['viewer'],
      tool_scopes: [{ held: false }],
    });
    expect(await judge({ scope: undefined })).toMatchObject({ roles: [], tool_scopes: [{ held: false }] });
    expect(await judge({ scope: undefined, scp: ['tools:call'] })).toMatchObject({ tool_scopes: [{ held: true }] });
  });

  test('PRM-10 that has the scope of one tool is an agent, and has no other tool', async () => {
    const toolScopes = [{ tool: 'mail__*', scope: 'mail' }];
    const mail = { tool: 'mail__*', scope: 'mail' };
    const every = { tool: '*', scope: 'tools:call' };
    expect(await judge({ scope: 'mail' }, { toolScopes })).toMatchObject({
      roles: ['agent'],
      tool_scopes: [
        { ...mail, held: true },
        { ...every, held: false },
      ],
    });
    expect(await judge({ scope: 'other' }, { toolScopes })).toMatchObject({ roles: [] });
  });

  test('PRM-10 may say in claims what it may call: then no scope counts', async () => {
    const claims = await judge({ tool_id: 'read_*', allowed_operations: ['execute'] });
    expect(claims).toMatchObject({ tool_id: 'read_*', allowed_operations: ['execute'] });
    expect(claims).not.toHaveProperty('tool_scopes');
    expect(await judge({ tool_id: 'read_*' })).toMatchObject({ tool_id: 'read_*', allowed_operations: [] });
    for (const incomplete of [{ network_permissions: [] }, { tool_id: 'read_*', allowed_operations: 'execute' }])
      expect(await judge(incomplete)).toMatchObject({ code: 'E3201', message: expect.stringContaining('wrong form') });
  });

  test('PRM-10 belongs to the tenant that its claim names, where one is configured', async () => {
    const rules = { tenantClaim: 'org' };
    expect(await judge({ org: 'globex' }, rules)).toMatchObject({ tenant_id: 'globex' });
    for (const org of [undefined, '', 7])
      expect(await judge({ org }, rules)).toMatchObject({ code: 'E3207', details: { missing: ['org'] } });
    expect(await judge({ org: 'globex' })).toMatchObject({ tenant_id: 'acme' });
  });

  test('PRM-11.2 names this layer among its audiences', async () => {
    expect(await judge({ aud: ['https://other.example', 'https://tools.example/mcp'] })).toMatchObject({
      tenant_id: 'acme',
    });
    for (const aud of ['https://other.example', ['https://other.example'], []])
      expect(await judge({ aud })).toMatchObject({ code: 'E3201', message: expect.stringContaining('audience') });
  });

  test('PRM-10 names every claim that it lacks, and every claim of a wrong form', async () => {
    for (const name of ['exp', 'aud', 'sub', 'iat'])
      expect(await judge({ [name]: undefined })).toMatchObject({ code: 'E3207', details: { missing: [name] } });
    expect(await judge({ sub: '', client_id: 'x'.repeat(241) })).toMatchObject({
      code: 'E3201',
      details: { claims: ['sub', 'client_id'] },
    });
    expect(isFailure(await judge({ client_id: 'x'.repeat(240) }))).toBe(false);
  });

  test('PRM-10.2 is signed by a key of its own server, with its algorithm and type', async () => {
    const refused = async (token: Promise<string>, rules: Partial<AccessRules> = {}) => {
      const found = await verifierOf(rules).verify(await token);
      return isFailure(found) ? found.code : undefined;
    };
    expect(await refused(sign(ACCESS, {}, other.privateKey))).toBe('E3201');
    expect(await refused(sign(ACCESS, { alg: 'RS512' }))).toBe('E3201');
    expect(await refused(sign(ACCESS, { alg: 'RS512' }), { algorithms: ['RS512'] })).toBeUndefined();
    for (const [typ, why] of [
      ['JWT', 'has the type "jwt", not at+jwt'],
      [undefined, 'has the type "none", not at+jwt'],
    ] as const)
      expect(await verifierOf().verify(await sign(ACCESS, { typ }))).toMatchObject({
        ...{ code: 'E3201', message: expect.stringContaining(why) },
      });
    expect(await refused(sign(ACCESS, { typ: 'application/AT+JWT' }))).toBeUndefined();
    expect(await refused(sign(ACCESS, { typ: 'JWT' }), { types: ['jwt'] })).toBeUndefined();
    for (const [issuers, code] of [
      [[ISSUER], undefined],
      [['https://else.example'], 'E3201'],
    ] as const)
      expect(await refused(sign(ACCESS), { keys: fixedKeys([{ ...KEY, issuers }]) })).toBe(code);
  });

  test('PRM-10 is explained as one, with each reason once', async () => {
    const { explain } = verifierOf();
    expect(await explain(await sign(ACCESS))).toMatchObject({ kind: 'access_token', accepted: true, reasons: [] });
    const { reasons } = await explain(await sign({ ...ACCESS, aud: 'https://other.example' }));
    expect(reasons).toEqual([{ e_code: 'E3201', message: expect.stringContaining('audience') }]);
    const old = await explain(await sign({ ...ACCESS, exp: NOW - 60 }));
    expect(old).toMatchObject({ accepted: false, reasons: [{ e_code: 'E3202' }] });
  });

  test('PRM-10.2 is distinguished from a capability token by its issuer, also where opaque ones are asked about', async () => {
    const introspect = async () => ({ active: true, client_id: 'opaque', aud: 'https://tools.example' });
    const both = verifierWith({
      ...{ keys: [{ kid: 'k', key: other.publicKey }], issuers: ['issuer'], clock },
      accessTokens: {
        ...ACCESS_RULES,
        ...{ issuer: ISSUER, keys: fixedKeys([KEY]), audiences: ['https://tools.example'] },
        ...{ roles: {}, introspect },
      },
    });
    const capability = {
      tool_id: 'a',
      agent_did: 'did:a',
      tenant_id: 't',
      allowed_operations: [],
      iat: NOW,
      exp: NOW + 1,
    };
    for (const [token, kind, agent] of [
      [await sign({ ...capability, iss: 'issuer' }, { typ: 'JWT' }, other.privateKey), 'capability_token', 'did:a'],
      [await sign(ACCESS), 'access_token', 'oauth:editor'],
      ['opaque', 'access_token', 'oauth:opaque'],
    ] as const) {
      expect(await both.verify(token)).toMatchObject({ agent_did: agent });
      expect(await both.explain(token)).toMatchObject({ kind, accepted: true });
    }
  });

  test('PRM-10 is no capability token where no authorization server is configured', async () => {
    const bare = verifierWith({ keys: [KEY], issuers: [ISSUER], clock });
    expect(await bare.verify(await sign(ACCESS))).toMatchObject({ code: 'E3201' });
    expect(await bare.explain(await sign(ACCESS))).toMatchObject({ kind: 'capability_token', accepted: false });
  });
});

describe('a token of a key that is not known yet', () => {
  /** A source whose only key appears when it looks again, if it may look. */
  const late = (mayLook: boolean, problem?: string) => {
    let known: readonly (typeof KEY)[] = [];
    let looks = 0;
    const source: KeySource = {
      keys: () => known,
      async lookAgain() {
        looks += 1;
        if (mayLook) known = [KEY];
        return mayLook;
      },
      problem: (issuer) => (issuer === ISSUER ? problem : undefined),
    };
    return { source, looks: () => looks };
  };

  test('PRM-02.3 is judged after one look for new keys', async () => {
    const { source, looks } = late(true);
    expect(await judge({}, { keys: source })).toMatchObject({ tenant_id: 'acme' });
    expect(looks()).toBe(1);
    const refused = late(false);
    expect(await judge({}, { keys: refused.source })).toMatchObject({ code: 'E3201' });
    expect(refused.looks()).toBe(1);
  });

  test('PRM-02.3 is refused for now, and not as forged, while the keys of its issuer cannot be had', async () => {
    const { source } = late(false, 'the server does not answer');
    expect(await judge({}, { keys: source })).toMatchObject({ code: 'E3206', retryAfterMs: 10_000 });
  });

  test('PRM-02 is not looked for when its fault is another one', async () => {
    const { source, looks } = late(true, 'the server does not answer');
    const verifier = verifierOf({ keys: source });
    expect(await verifier.verify(await sign(ACCESS, { alg: 'RS512' }))).toMatchObject({ code: 'E3201' });
    expect(looks()).toBe(0);
    const known = { ...late(true, 'the server does not answer').source, keys: () => [KEY] };
    let isAsked = false;
    const lookAgain = async () => {
      isAsked = true;
      return true;
    };
    const forged = await sign(ACCESS, { kid: 'as' }, other.privateKey);
    expect(await verifierOf({ keys: { ...known, lookAgain } }).verify(forged)).toMatchObject({ code: 'E3201' });
    expect(isAsked).toBe(false);
  });

  test('PRM-02.3 is looked for in every source, and is refused for now when one of them cannot be had', async () => {
    const { source, looks } = late(true);
    const keys = combinedKeys([fixedKeys([]), source]);
    expect(await judge({}, { keys })).toMatchObject({ tenant_id: 'acme' });
    expect(looks()).toBe(1);
    const away = combinedKeys([fixedKeys([]), late(false, 'the server does not answer').source]);
    expect(await judge({}, { keys: away })).toMatchObject({ code: 'E3206' });
    expect(await judge({}, { keys: combinedKeys([fixedKeys([])]) })).toMatchObject({ code: 'E3201' });
    const looked = [[fixedKeys([])], [late(true).source], [fixedKeys([]), late(true).source]];
    expect(await Promise.all(looked.map((each) => combinedKeys(each).lookAgain()))).toEqual([false, true, true]);
  });
});

describe('a token that is bound to a key, or meant for one server', () => {
  const cnf = { jkt: 'x'.repeat(43) };

  test('PRM-11.6 where every token must be bound, one that is bound to no key is E3216', async () => {
    expect(await judge({}, { mustBeBound: true })).toMatchObject({
      code: 'E3216',
      message: expect.stringContaining('DPoP'),
    });
    expect(await judge({ cnf }, { mustBeBound: true })).toMatchObject({ agent_did: 'oauth:editor', cnf });
    expect(await judge({ cnf })).toMatchObject({ cnf });
    expect(await judge({}, { mustBeBound: false })).not.toHaveProperty('cnf');
  });

  test('PRM-11.2 one for the address of an upstream counts there alone, one for the layer everywhere', async () => {
    const serverOf = (audience: string) =>
      audience.startsWith('https://tools.example/mcp/servers/') ? audience.slice(34) : undefined;
    const at = (name: string) => `https://tools.example/mcp/servers/${name}`;
    expect(await judge({ aud: at('github') }, { serverOf })).toMatchObject({ server_audiences: ['github'] });
    expect(await judge({ aud: [at('github'), 'https://other.example', at('mail')] }, { serverOf })).toMatchObject({
      server_audiences: ['github', 'mail'],
    });
    expect(await judge({ aud: [at('github'), 'https://tools.example'] }, { serverOf })).not.toHaveProperty(
      'server_audiences',
    );
    const nobody = await judge({ aud: at('github') }, { serverOf, tenantClaim: 'org' });
    expect([isFailure(nobody), nobody]).toEqual([true, expect.not.objectContaining({ server_audiences: ['github'] })]);
    for (const rules of [{ serverOf }, {}])
      expect(await judge({ aud: 'https://other.example' }, rules)).toMatchObject({ code: 'E3201' });
    expect(await judge({ aud: at('github') })).toMatchObject({ code: 'E3201' });
  });
});
