import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER, serve } from '../../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer } from '../layer.fixture.ts';
import { freePort } from './authorization-server.fixture.ts';
import { Browser } from './browser.fixture.ts';
import { CALLBACK, ClientState } from './client-state.fixture.ts';
import { allow, begin, developmentLayer, register, tokens } from './development-server.fixture.ts';
import { type DpopKey, dpopKey, nonceOf } from './dpop-key.fixture.ts';

let open: OpenLayer;
let url = '';
beforeAll(async () => {
  open = await developmentLayer({ 'oauth.tool_scopes': ['numbers=double'] });
  ({ url } = open.server);
});
afterAll(() => open[Symbol.asyncDispose]());

const call = async (authorization: string, more: Record<string, string> = {}) => {
  const response = await fetch(`${url}/v1/invocations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization, ...more },
    body: '{"tool_id":"double","parameters":{"n":3}}',
  });
  return { status: response.status, body: (await response.json()) as { error?: { e_code?: string } } };
};
/** The code that a login ends with. */
const codeOf = async (client_id: string, more: Record<string, string> = {}) => {
  const begun = begin(url, client_id, more);
  const back = new URL((await allow(open, begun.address)).url);
  return { ...begun, code: back.searchParams.get('code') ?? '', back };
};
const exchange = (client_id: string, { code, verifier }: { code: string; verifier: string }, headers = {}) =>
  tokens(
    url,
    { grant_type: 'authorization_code', client_id, code, code_verifier: verifier, redirect_uri: CALLBACK },
    headers,
  );

test.each([
  { era: '2025-11-25', auto: false },
  { era: '2026-07-28', auto: true },
])(
  'PRM-11.7 an MCP client of $era that knows the address alone lets its user log in, calls a tool, and steps up',
  async ({ era, auto }) => {
    const state = new ClientState();
    const negotiation = auto ? { versionNegotiation: { mode: 'auto' as const } } : {};
    const transport = () => new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: state });
    const connect = async (): Promise<Client> => {
      const client = new Client({ name: 'desk', version: '1.0.0' }, negotiation);
      await client.connect(transport());
      return client;
    };
    const browser = new Browser(url);

    await expect(connect()).rejects.toThrow(UnauthorizedError);
    const login = await browser.visit(state.visited[0] ?? '');
    expect(login.html).toContain('Login code');
    const consent = await browser.send(login, { user: 'alice', code: open.server.development?.loginCode ?? '' });
    expect(consent.html).toMatch(
      /Desk &lt;b&gt;client&lt;\/b&gt;[\s\S]*alice[\s\S]*127\.0\.0\.1:3939[\s\S]*Call your tools[\s\S]*tools:call/,
    );
    await transport().finishAuth(new URL((await browser.send(consent, { decision: 'allow' })).url).searchParams);

    // The tool has a scope of its own, which the client asks for once it is missing; the user is logged in already.
    const limited = await connect();
    expect(limited.getNegotiatedProtocolVersion()).toBe(era);
    await expect(limited.callTool({ name: 'double', arguments: { n: 21 } })).rejects.toThrow(UnauthorizedError);
    await limited.close();
    const again = await browser.visit(state.visited[1] ?? '');
    expect(again.html).toMatch(/Call these tools: double[\s\S]*numbers/);
    await transport().finishAuth(new URL((await browser.send(again, { decision: 'allow' })).url).searchParams);

    const client = await connect();
    const called = await client.callTool({ name: 'double', arguments: { n: 21 } });
    expect(called.structuredContent).toEqual({ value: 42 });
    await client.close();
    const { events } = await open.layer.ask('audit.query', { type: 'ai.agent.tool.succeeded', limit: 1 }, LOCAL_CALLER);
    expect(events[0]?.data).toMatchObject({ user_did: 'oauth:alice' });
  },
);

describe('tokens', () => {
  test('PRM-11.7 are bound to a key that the client proves, and are worth nothing without it', async () => {
    const { client_id } = await register(url);
    const key: DpopKey = await dpopKey();
    const begun = await codeOf(client_id, { scope: 'numbers' });
    const proof = await key.proof('POST', `${url}/auth/token`, '', { claims: { ath: undefined } });
    const given = await exchange(client_id, begun, { dpop: proof });
    expect(given).toMatchObject({ status: 200, token_type: 'DPoP' });
    const { access_token: token } = given;
    expect((await call(`Bearer ${token}`)).body.error?.e_code).toBe('E3216');
    const nonce = await nonceOf(`${url}/v1/tools`, token, key);
    const send = async (from: DpopKey) =>
      call(`DPoP ${token}`, { dpop: await from.proof('POST', `${url}/v1/invocations`, token, { claims: { nonce } }) });
    expect((await send(key)).status).toBe(200);
    expect((await send(await dpopKey())).status).toBe(401);
  });

  test('PRM-11.7 are renewed with a token that is good once', async () => {
    const { client_id } = await register(url);
    const given = await exchange(client_id, await codeOf(client_id, { scope: 'numbers' }));
    const renew = (refresh_token: string) => tokens(url, { grant_type: 'refresh_token', client_id, refresh_token });
    const renewed = await renew(given.refresh_token);
    expect((await call(`Bearer ${renewed.access_token}`)).status).toBe(200);
    expect(await renew(given.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
    // Somebody else may have the old one, so the new one ends too.
    expect(await renew(renewed.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  test('PRM-11.7 without a user are for the one client whose secret is in the data folder', async () => {
    const secret = (await readFile(join(keysOf(open), 'program-client-secret'), 'utf8')).trim();
    const form = { grant_type: 'client_credentials', scope: 'numbers', resource: url };
    const basic = (id: string, password: string) => `Basic ${Buffer.from(`${id}:${password}`).toString('base64')}`;
    const given = await tokens(url, form, { authorization: basic('program', secret) });
    expect((await call(`Bearer ${given.access_token}`)).status).toBe(200);
    expect((await tokens(url, form, { authorization: basic('program', 'guess') })).status).toBe(401);
    const own = await register(url, {
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: 'client_secret_basic',
    });
    const refused = await tokens(url, form, { authorization: basic(own.client_id, own.client_secret) });
    expect(refused).toMatchObject({ status: 400, error: 'unauthorized_client' });
    expect(refused).not.toHaveProperty('access_token');
  });

  test('PRM-11.2 are for one layer: those of another are refused', async () => {
    await using other = await developmentLayer();
    const { client_id } = await register(other.server.url);
    const begun = begin(other.server.url, client_id);
    const back = new URL((await allow(other, begun.address)).url);
    const form = { grant_type: 'authorization_code', client_id, redirect_uri: CALLBACK, code_verifier: begun.verifier };
    const given = await tokens(other.server.url, { ...form, code: back.searchParams.get('code') ?? '' });
    expect(given.status).toBe(200);
    expect(await call(`Bearer ${given.access_token}`)).toMatchObject({
      status: 401,
      body: { error: { e_code: 'E3201' } },
    });
  });
});

describe('a login', () => {
  test.each([
    ['another redirect address', { redirect_uri: 'http://127.0.0.1:3940/callback' }],
    ['a redirect address that begins like it', { redirect_uri: `${CALLBACK}/../evil` }],
    ['a remote redirect address', { redirect_uri: 'https://evil.example/callback' }],
    ['no redirect address', { redirect_uri: '' }],
    ['an unknown client', { client_id: 'unknown' }],
    ['a document on this machine as its client', { client_id: 'https://127.0.0.1:1/client.json' }],
    ['a document in a private network as its client', { client_id: 'https://10.0.0.1/client.json' }],
  ])('PRM-11.7 with %s sends the browser nowhere', async (_what, more) => {
    const { client_id } = await register(url);
    const page = await new Browser(url).visit(begin(url, client_id, more).address);
    expect([page.status, new URL(page.url).origin]).toEqual([400, url]);
    expect(page.html).toContain('This login cannot go on');
  });

  test.each([
    ['without PKCE', { code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
    ['with a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['for tokens in the address', { response_type: 'token' }, 'unsupported_response_type'],
    ['for another resource', { resource: 'https://other.example' }, 'invalid_target'],
    ['for the same path of another host', { resource: 'http://localhost/mcp' }, 'invalid_target'],
  ])('PRM-11.7 %s is refused to the client', async (_what, more, error) => {
    const { client_id } = await register(url);
    const back = await new Browser(url).visit(begin(url, client_id, more).address);
    const { search, hash } = new URL(back.url);
    const searchParams = new URLSearchParams(search === '' ? hash.slice(1) : search);
    expect([searchParams.get('error'), searchParams.get('state'), searchParams.get('iss')]).toEqual([
      error,
      'kept',
      url,
    ]);
  });

  test('PRM-11.7 that asks for no scope asks for the calling of tools', async () => {
    const { client_id } = await register(url);
    const browser = new Browser(url);
    const login = await browser.visit(begin(url, client_id, { scope: '' }).address);
    const consent = await browser.send(login, { user: 'alice', code: open.server.development?.loginCode ?? '' });
    expect(consent.html).toMatch(/Call your tools <code>tools:call<\/code>/);
    expect(new URL((await browser.send(consent, { decision: 'allow' })).url).searchParams.get('code')).not.toBeNull();
  });

  test('PRM-11.7 that the user denies ends so', async () => {
    const { client_id } = await register(url);
    const browser = new Browser(url);
    const login = await browser.visit(begin(url, client_id).address);
    const consent = await browser.send(login, { user: 'alice', code: open.server.development?.loginCode ?? '' });
    const back = new URL((await browser.send(consent, { decision: 'deny' })).url);
    expect([back.searchParams.get('error'), back.searchParams.get('code')]).toEqual(['access_denied', null]);
  });

  test('PRM-11.7 gives a code for one use, by the client that has the verifier', async () => {
    const { client_id } = await register(url);
    const stolen = await codeOf(client_id);
    expect(await exchange(client_id, { ...stolen, verifier: 'x'.repeat(43) })).toMatchObject({
      error: 'invalid_grant',
    });
    const begun = await codeOf(client_id, { scope: 'numbers' });
    expect((await exchange(client_id, begun)).status).toBe(200);
    expect(await exchange(client_id, begun)).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('the pages of a login', () => {
  const consentOf = async (browser: Browser) => {
    const { client_id } = await register(url);
    const login = await browser.visit(begin(url, client_id).address);
    return browser.send(login, { user: 'alice', code: open.server.development?.loginCode ?? '' });
  };

  test.each<[string, Record<string, string>]>([
    ['another page of this machine', { origin: 'http://127.0.0.1:9999' }],
    ['a page without a name', { origin: 'null' }],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a page of another port', { 'sec-fetch-site': 'same-site' }],
  ])('PRM-11.7 take no consent that is clicked on %s', async (_what, headers) => {
    const browser = new Browser(url);
    const consent = await consentOf(browser);
    const answer = await browser.send(consent, { decision: 'allow' }, headers);
    expect([answer.status, new URL(answer.url).origin]).toEqual([403, url]);
    // Nothing was decided: the user still can.
    expect(new URL((await browser.send(consent, { decision: 'allow' })).url).searchParams.get('code')).not.toBeNull();
  });

  test('PRM-11.7 take no form that they did not make for this step, and none from another browser', async () => {
    const browser = new Browser(url);
    const consent = await consentOf(browser);
    expect((await browser.send(consent, { decision: 'allow', seal: '' })).status).toBe(403);
    expect((await browser.send(consent, { decision: 'allow', seal: 'A'.repeat(43) })).status).toBe(403);
    expect((await new Browser(url).send(consent, { decision: 'allow' })).status).toBe(400);
    expect((await new Browser(url).visit(consent.url)).status).toBe(400);
    expect((await browser.send(consent, { decision: 'allow', more: 'x'.repeat(5000) })).status).toBe(400);
    const { headers, html } = consent;
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; frame-ancestors 'none'$/,
    );
    expect(html).not.toContain('<script');
  });

  test('PRM-11.7 let in who has the code, as a user of the layer, and let nobody guess', async () => {
    await using own = await developmentLayer({ 'auth.dev_users': ['alice', 'bob'] });
    const code = own.server.development?.loginCode ?? '';
    const browser = new Browser(own.server.url);
    const { client_id } = await register(own.server.url);
    const login = await browser.visit(begin(own.server.url, client_id).address);
    expect(login.html).toMatch(/<option>alice<\/option><option>bob<\/option>/);
    expect((await browser.send(login, { user: 'mallory', code })).html).toContain('There is no such user');
    for (const guess of ['', 'AAAAA-AAAAA', 'x', code.slice(1), `${code}A`]) {
      const refused = await browser.send(login, { user: 'bob', code: guess });
      expect([refused.status, refused.html]).toEqual([403, expect.stringContaining('not the login code')]);
    }
    expect((await browser.send(login, { user: 'bob', code })).html).toContain('Too many wrong codes');
  });
});

describe('the server', () => {
  test('PRM-11.7 says in its metadata what MCP clients look for', async () => {
    for (const path of ['oauth-authorization-server', 'openid-configuration']) {
      const response = await fetch(`${url}/.well-known/${path}`);
      expect(await response.json()).toMatchObject({
        issuer: url,
        authorization_endpoint: `${url}/auth/authorize`,
        token_endpoint: `${url}/auth/token`,
        registration_endpoint: `${url}/auth/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
        grant_types_supported: expect.arrayContaining(['authorization_code', 'refresh_token', 'client_credentials']),
        dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
        scopes_supported: expect.arrayContaining(['tools:call', 'numbers']),
      });
    }
    const keys = await (await fetch(`${url}/auth/jwks`)).text();
    expect(JSON.parse(keys).keys).toMatchObject([{ kty: 'RSA', alg: 'RS256' }]);
    expect(keys).not.toContain('"d"');
  });

  test('PRM-11.7 keeps its secrets from other users of the machine, and its clients over a restart', async () => {
    const port = await freePort();
    await using own = await developmentLayer({ 'server.port': port });
    const { client_id } = await register(own.server.url);
    const before = own.server.development?.loginCode;
    const files = (await readdir(keysOf(own))).filter((name) => name !== 'signing-key.pub.pem');
    expect(files.toSorted()).toEqual(['login-code', 'program-client-secret', 'signing-key.pem', 'state.json']);
    for (const file of files) expect((await stat(join(keysOf(own), file))).mode & 0o777).toBe(0o600);
    await own.server.close();
    await using again = await serve(own.layer, { port });
    expect(again.development?.loginCode).not.toBe(before);
    const page = await new Browser(again.url).visit(begin(again.url, client_id).address);
    expect(page.html).toContain('Raw client');
  });

  test.each([
    [{ 'server.host': '0.0.0.0' }, /loopback only, not on 0\.0\.0\.0/],
    [{ 'server.host': '192.0.2.1' }, /loopback only/],
    [{ 'server.port': 0 }, /server\.port must name a port/],
    [{ 'server.public_url': 'https://tools.example' }, /server\.public_url must be empty/],
    [{ 'database.url': 'postgres://db.example/layer' }, /database\.url must be empty/],
    [{ 'oauth.issuer': 'https://id.example' }, /oauth\.issuer must be empty/],
  ])('PRM-11.7 does not start with %j', async (settings, message) => {
    const starting = openLayer({ 'auth.dev': true, 'server.port': 7420, ...settings });
    await expect(starting).rejects.toMatchObject({ code: 'E3801', message: expect.stringMatching(message) });
  });

  test('PRM-11.7 is off by default, and does not follow the doors to another address', async () => {
    await using plain = await openLayer();
    expect((await fetch(`${plain.server.url}/.well-known/oauth-authorization-server`)).status).toBe(404);
    expect((await fetch(`${plain.server.url}/auth/jwks`)).status).toBe(404);
    await expect(serve(open.layer, { host: '0.0.0.0' })).rejects.toMatchObject({ code: 'E3801' });
    await expect(serve(open.layer, { port: 0 })).rejects.toMatchObject({ code: 'E3801' });
  });
});

function keysOf({ folder }: OpenLayer): string {
  return join(folder, 'keys', 'authorization-server');
}
