import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOUBLE, double, type OpenLayer, openLayer } from '../layer.fixture.ts';
import { authorizationServer, freePort } from './authorization-server.fixture.ts';

const METADATA = '/.well-known/oauth-protected-resource';

let authorization: Awaited<ReturnType<typeof authorizationServer>>;
let open: OpenLayer;
let url: string;
beforeAll(async () => {
  authorization = await authorizationServer();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  open = await openLayer(
    {
      'server.public_url': url,
      'oauth.issuer': authorization.issuer,
      'oauth.jwks_url': `${authorization.issuer}/jwks`,
      'oauth.tool_scopes': ['mail:read=mail__*', 'mail:send=mail__send'],
    },
    {},
    port,
  );
  for (const tool_id of ['double', 'mail__read', 'mail__send'])
    await open.layer.registerFunction({ ...DOUBLE, tool_id }, double);
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await authorization.close();
});

const tokenWith = async (scope: string, resource = url): Promise<string> => {
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope, resource });
  const response = await fetch(`${authorization.issuer}/token`, { method: 'POST', body });
  return ((await response.json()) as { access_token: string }).access_token;
};
interface Said {
  readonly error?: { readonly code?: number | string; readonly e_code?: string; readonly data?: unknown };
}
const send = async (path: string, token: string, body: object, more: Record<string, string> = {}) => {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
    ...more,
  };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const said = JSON.parse(await response.text()) as Said;
  const [session, challenge] = ['mcp-session-id', 'www-authenticate'].map((name) => response.headers.get(name));
  return { status: response.status, challenge, session, body: said };
};
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
/** Calls a tool over MCP in the way of clients of the era. */
async function mcpCall(era: string, token: string, name: string) {
  const params = { name, arguments: { n: 2 } };
  const call = { jsonrpc: '2.0', id: 7, method: 'tools/call' };
  if (era === 'modern') {
    const standard = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
    return send('/mcp', token, { ...call, params: { _meta: META, ...params } }, standard);
  }
  const opening = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
  const { session } = await send('/mcp', token, opening);
  return send('/mcp', token, { ...call, params }, { 'mcp-session-id': session ?? '' });
}
const invoke = (tool_id: string, token: string) => send('/v1/invocations', token, { tool_id, parameters: { n: 2 } });

describe('a tool with a scope of its own', () => {
  test.each([
    ['tools:call', { double: 200, mail__read: 403, mail__send: 403 }],
    ['mail:read', { double: 403, mail__read: 200, mail__send: 403 }],
    ['mail:send', { double: 403, mail__read: 403, mail__send: 200 }],
    ['tools:call mail:read mail:send', { double: 200, mail__read: 200, mail__send: 200 }],
    ['sallyport:operator', { double: 403, mail__read: 403, mail__send: 403 }],
  ])('PRM-10 is called with it and with no other: a token with %s', async (scope, statuses) => {
    const token = await tokenWith(scope);
    for (const [tool, status] of Object.entries(statuses))
      expect([tool, (await invoke(tool, token)).status]).toEqual([tool, status]);
  });

  test('PRM-11 over REST the challenge names what the token has and what it lacks', async () => {
    const refused = await invoke('mail__send', await tokenWith('tools:call mail:read'));
    expect(refused).toMatchObject({
      status: 403,
      body: { status: 'permission_denied', error: { e_code: 'E3215', details: { scope: 'mail:send' } } },
    });
    expect(refused.challenge).toBe(
      `Bearer realm="sallyport", error="insufficient_scope", scope="mail:read tools:call mail:send", resource_metadata="${url}${METADATA}"`,
    );
    const nothing = await invoke('double', await tokenWith('other'));
    expect(nothing.challenge).toContain('error="insufficient_scope", scope="tools:call"');
  });

  test.each(['legacy', 'modern'])(
    'PRM-11 over MCP (%s) it is the answer to the HTTP request, not a result',
    async (era) => {
      const token = await tokenWith('tools:call', `${url}/mcp`);
      const refused = await mcpCall(era, token, 'mail__send');
      expect([refused.status, refused.body.error?.code]).toEqual([403, -32001]);
      expect(refused.body.error?.data).toMatchObject({ e_code: 'E3215' });
      expect(refused.challenge).toBe(
        `Bearer realm="sallyport", error="insufficient_scope", scope="tools:call mail:send", resource_metadata="${url}${METADATA}/mcp"`,
      );
      expect((await mcpCall(era, token, 'double')).status).toBe(200);
    },
  );

  test('is told before a call: the metadata list its scope, listings the tool, and a dry run the refusal', async () => {
    const metadata = (await (await fetch(`${url}${METADATA}/mcp`)).json()) as { scopes_supported: string[] };
    expect(metadata.scopes_supported).toEqual(expect.arrayContaining(['tools:call', 'mail:read', 'mail:send']));
    const token = await tokenWith('tools:call');
    const listed = await fetch(`${url}/v1/tools`, { headers: { authorization: `Bearer ${token}` } });
    expect(await listed.text()).toContain('mail__send');
    const reader = { authorization: `Bearer ${await tokenWith('mail:read')}` };
    expect((await fetch(`${url}/v1/tools`, { headers: reader })).status).toBe(200);
    const dry = await send('/v1/dry-runs', token, { tool_id: 'mail__send', parameters: { n: 2 } });
    expect(dry).toMatchObject({ status: 200, body: { would: 'refuse', error: { e_code: 'E3215' } } });
  });

  test('hides the faults of its arguments from who may not call it', async () => {
    const token = await tokenWith('tools:call');
    const refused = await send('/v1/invocations', token, { tool_id: 'mail__send', parameters: { n: 'x', secret: 1 } });
    expect(refused.body.error?.e_code).toBe('E3215');
  });
});

test.each([
  { era: '2025-11-25', auto: false },
  { era: '2026-07-28', auto: true },
])(
  'PRM-11 the official client of $era asks for the scope that was missing, and its call goes through',
  async ({ auto }) => {
    const { issuer: expectedIssuer } = authorization;
    const authProvider = new ClientCredentialsProvider({ clientId: 'desk', clientSecret: 'hush', expectedIssuer });
    const negotiation = auto ? { versionNegotiation: { mode: 'auto' as const } } : {};
    const client = new Client({ name: 'step-up', version: '1.0.0' }, negotiation);
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider }));
    const called = await client.callTool({ name: 'mail__send', arguments: { n: 4 } });
    expect(called.structuredContent).toEqual({ value: 8 });
    expect(authorization.asked.at(-1)?.get('scope')?.split(' ')).toEqual(
      expect.arrayContaining(['tools:call', 'mail:send']),
    );
    expect((await client.callTool({ name: 'double', arguments: { n: 1 } })).structuredContent).toEqual({ value: 2 });
    await client.close();
  },
);

test.each(['mail__send', '=mail__*', 'mail:send=', 'two words=mail__*', 'quo"te=mail__*'])(
  'the setting %j is refused',
  async (scope) => {
    const settings = {
      'oauth.issuer': authorization.issuer,
      'oauth.jwks_url': `${authorization.issuer}/jwks`,
      'oauth.audiences': [url],
    };
    await expect(openLayer({ ...settings, 'oauth.tool_scopes': [scope] })).rejects.toMatchObject({ code: 'E3801' });
  },
);
