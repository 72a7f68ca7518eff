import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createRemoteLayer } from '../../packages/sallyport/src/doors/remote/remote-layer.ts';
import { LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from '../e2e/layer.fixture.ts';
import { changes, leaked, restingRowsOf, rowsOf } from './tenancy/compared.ts';
import { type Planted, plant } from './tenancy/planted.ts';

const VICTIM = 'caf\u00e9-of-the-victim';
const ISSUER = 'https://issuer.example';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

let open: OpenLayer;
let planted: Planted;
let marks: readonly string[];
let folder: string;
const clients: Client[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'issuer-'));
  const file = join(folder, 'key.pem');
  await writeFile(file, publicKey.export({ type: 'spki', format: 'pem' }));
  open = await openLayer({
    'tenant.default': VICTIM,
    'tokens.public_key_file': file,
    'tokens.issuers': [ISSUER],
  });
  planted = await plant(open.layer);
  marks = [...planted.marks, ...Object.values(planted.names).filter((name) => name !== planted.names.agent)];
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(async () => {
  planted.finish();
  await planted.finished;
  await open[Symbol.asyncDispose]();
  await planted[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** A token from an issuer that may name any tenant. */
const signed = (claims: object): Promise<string> => {
  const now = Math.floor(Date.now() / 1000);
  const usual = { tool_id: '*', agent_did: planted.names.agent, allowed_operations: ['execute'], iss: ISSUER };
  return new SignJWT({ ...usual, iat: now, exp: now + 600, ...claims })
    .setProtectedHeader({ alg: 'RS256' })
    .sign(privateKey);
};

async function connect(path: string, token: string, auto = false): Promise<Client> {
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  const negotiation = auto ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name: 'intruder', version: '1.0.0' }, negotiation);
  clients.push(client);
  await client.connect(new StreamableHTTPClientTransport(new URL(`${open.server.url}${path}`), { requestInit }));
  return client;
}

/** The whole text of an answer or error. */
const told = async (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    (answer) => JSON.stringify(answer),
    (thrown: Error & { data?: unknown }) => JSON.stringify([thrown.message, thrown.data]),
  );

const expectNothing = async (asked: Promise<unknown>, question: unknown): Promise<void> => {
  const answer = await told(asked);
  expect(leaked(answer, JSON.stringify(question), marks), answer).toEqual([]);
};

describe('tenants whose names look alike', () => {
  test.each([
    ['another case', 'CAF\u00c9-of-the-victim'],
    ['another normal form', 'cafe\u0301-of-the-victim'],
    ['a fullwidth letter', '\uff43af\u00e9-of-the-victim'],
    ['a blank behind', `${VICTIM} `],
    ['a line end behind', `${VICTIM}\n`],
    ['a NUL behind', `${VICTIM}\0`],
    ['a soft hyphen', `${VICTIM}\u00ad`],
    ['percent code', encodeURIComponent(VICTIM)],
    ['a path', `x/../${VICTIM}`],
    ['a path in percent code', `x%2f..%2f${VICTIM}`],
    ['a pattern', 'caf%'],
    ['a star', '*'],
    ['a lone surrogate', `${VICTIM}\ud800`],
    ['a name of every object', '__proto__'],
    ['another name of every object', 'constructor'],
    ['quotes', `' or tenant_id = '${VICTIM}`],
    ['a list', `${VICTIM},other`],
  ])('PRM-10.5 %s is another tenant', async (_what, tenant) => {
    const token = await signed({ tenant_id: tenant, roles: ['operator', 'admin'] });
    const remote = createRemoteLayer({ url: open.server.url, token });
    const caller = { door: 'cli' } as const;
    const { names } = planted;
    for (const [asked, input] of [
      ['tools.list', {}],
      ['tools.manifests', {}],
      ['upstreams.list', {}],
      ['views.list', {}],
      ['api-keys.list', {}],
      ['revocations.list', {}],
      ['activations.list', {}],
      ['audit.query', { limit: 1000 }],
    ] as const) {
      await expectNothing(remote.ask(asked, input, caller), [tenant]);
    }
    for (const [asked, input] of [
      ['tools.get', { tool_id: names.tool }],
      ['invocations.get', { invocation_id: names.invocation }],
      ['invocations.cancel', { invocation_id: names.running }],
      ['api-keys.revoke', { key_id: names.keyId }],
    ] as const) {
      await expect(remote.ask(asked, input, caller), asked).rejects.toBeInstanceOf(Error);
    }
  });

  test.each([
    ['no text', 7],
    ['a list of names', [VICTIM]],
    ['empty', ''],
    ['nothing', null],
    ['too long', 'x'.repeat(300)],
  ])('PRM-10 a tenant that is %s is no tenant', async (_what, tenant_id) => {
    const token = await signed({ tenant_id, roles: ['operator'] });
    const response = await fetch(`${open.server.url}/v1/tools`, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(401);
  });
});

describe.each([
  { era: '2025-11-25', auto: false },
  { era: '2026-07-28', auto: true },
])('over MCP $era', ({ auto }) => {
  test.each(['agent', 'viewer', 'operator', 'admin'])(
    'PRM-10.5 a foreign %s learns nothing of the tenant',
    async (role) => {
      const before = await restingRowsOf(open.layer, VICTIM);
      const token = await signed({ tenant_id: 'intruder', roles: [role] });
      const { names } = planted;
      for (const path of ['/mcp', '/mcp?tools=meta']) {
        const gateway = await connect(path, token, auto);
        await expectNothing(gateway.listTools(), '');
        for (const [name, given] of [
          [names.tool, { q: 'x' }],
          [`${names.upstream}__kept`, {}],
          [`${names.upstream}__changed`, {}],
          ['find_tools', { query: names.words }],
          ['describe_tool', { name: names.tool }],
          ['call_tool', { name: names.tool, arguments: { q: 'x' } }],
        ] as const) {
          const call = { name, arguments: given, _meta: { tenant_id: VICTIM } };
          await expectNothing(gateway.callTool(call), call);
        }
      }
      const discovery = await connect('/mcp/discovery', token, auto);
      await expectNothing(discovery.listResources(), '');
      const agent = encodeURIComponent(names.agent);
      for (const uri of [
        `sallyport://tools/tenant/${encodeURIComponent(VICTIM)}/available`,
        `sallyport://tools/tenant/intruder%2f..%2f${encodeURIComponent(VICTIM)}/available`,
        'sallyport://tools/tenant/intruder/available',
        `sallyport://tools/agent/${agent}/enabled`,
        `sallyport://tools/agent/${agent}/unavailable`,
        `sallyport://tools/tool/${names.tool}`,
        `sallyport://tools/tool/${names.tool}?version=1.1.0-next`,
      ]) {
        await expectNothing(discovery.readResource({ uri }), uri);
      }
      expect(changes(before, await rowsOf(open.layer, VICTIM))).toEqual([]);
    },
  );

  test('nothing is told of changes in another tenant', async () => {
    const heard: string[] = [];
    const own = Promise.withResolvers<void>();
    const tenant = `listener-${auto}`;
    const client = await connect('/mcp', await signed({ tenant_id: tenant, roles: ['operator'] }), auto);
    client.setNotificationHandler('notifications/tools/list_changed', ({ method }) => {
      heard.push(method);
      own.resolve();
    });
    if (auto) await client.listen({ toolsListChanged: true });
    const manifest = (tool_id: string) => ({ manifest: { ...DOUBLE, tool_id } });
    await open.layer.ask('tools.register', manifest(`foreign-${auto}`), LOCAL_CALLER);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(heard).toEqual([]);
    // A legacy client opens its stream at any time after it connects, so changes are made until the client receives
    // one.
    let turn = 0;
    const again = setInterval(() => {
      turn += 1;
      void open.layer.ask('tools.register', manifest(`own-${turn}`), { ...LOCAL_CALLER, tenantId: tenant });
    }, 100);
    await own.promise;
    clearInterval(again);
  });
});

describe('what belongs to one caller is never used for another', () => {
  const meta = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const post = (token: string, session: string | undefined, message: object) =>
    fetch(`${open.server.url}/mcp`, {
      method: 'POST',
      headers: {
        ...meta,
        authorization: `Bearer ${token}`,
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  const initialize = { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } };

  test('PRM-11.5 a session answers its holder alone, with whichever token', async () => {
    const mine = { tenant_id: 'one', agent_did: 'did:example:a' };
    const first = await signed(mine);
    const session = (await post(first, undefined, initialize)).headers.get('mcp-session-id') ?? '';
    const ping = { id: 2, method: 'tools/list' };
    const unknown = await post(first, crypto.randomUUID(), ping);
    expect(unknown.status).toBe(404);
    const gone = await unknown.text();
    for (const other of [
      { ...mine, tenant_id: 'two' },
      { ...mine, agent_did: 'did:example:b' },
      { ...mine, user_did: 'did:example:user' },
      { ...mine, tenant_id: 'One', roles: ['admin'] },
    ]) {
      const refused = await post(await signed(other), session, ping);
      expect([refused.status, await refused.text()]).toEqual([404, gone]);
    }
    expect((await post('no.token.atall', session, ping)).status).toBe(401);
    expect((await post(await signed({ ...mine, jti: 'renewed' }), session, ping)).status).toBe(200);
    expect((await post(first, session, ping)).status).toBe(200);
  });

  test('nobody cancels the call of another session', async () => {
    const { token } = planted.names;
    const session = (await post(token, undefined, initialize)).headers.get('mcp-session-id') ?? '';
    const call = { id: 'c', method: 'tools/call', params: { name: planted.names.tool, arguments: { q: 'wait' } } };
    const stop = new AbortController();
    const running = fetch(`${open.server.url}/mcp`, {
      method: 'POST',
      headers: { ...meta, authorization: `Bearer ${token}`, 'mcp-session-id': session },
      body: JSON.stringify({ jsonrpc: '2.0', ...call }),
      signal: stop.signal,
    }).catch(() => 'stopped');
    const intruder = await signed({ tenant_id: 'intruder' });
    const cancel = { method: 'notifications/cancelled', params: { requestId: 'c' } };
    expect((await post(intruder, session, cancel)).status).toBe(404);
    const ended = await Promise.race([running, new Promise((resolve) => setTimeout(resolve, 200, 'runs'))]);
    expect(ended).toBe('runs');
    stop.abort();
    expect(await running).toBe('stopped');
  });

  test('VIS-04 PRM-10 the same idempotency key and the same invocation id are another tenant’s own', async () => {
    let runs = 0;
    const manifest = { ...DOUBLE, tool_id: 'shared', side_effect_policy: 'idempotent' as const };
    await open.layer.registerFunction(manifest, (given, { principal }) => {
      runs += 1;
      return { ...double(given), tenant: principal.tenantId };
    });
    await open.layer.ask('tools.register', { manifest }, { ...LOCAL_CALLER, tenantId: 'second' });
    const request = {
      tool_id: 'shared',
      parameters: { n: 1 },
      invocation_id: 'the-same-id',
      execution_options: { idempotency_key: 'the-same-key' },
    };
    for (const tenant_id of [VICTIM, 'second']) {
      const token = await signed({ tenant_id });
      const answer = await open.layer.invoke(request, { token });
      expect(answer).toMatchObject({ status: 'success', result: { tenant: tenant_id } });
      expect(answer.execution_metadata?.cached).toBe(false);
    }
    expect(runs).toBe(2);
  });

  test('VIS-04.8 the same turn group is another tenant’s own', async () => {
    const manifest = { ...DOUBLE, tool_id: 'in-turn', side_effect_policy: 'idempotent' as const };
    await open.layer.registerFunction(manifest, (given, { principal }) => ({
      ...double(given),
      of: principal.tenantId,
    }));
    await open.layer.ask('tools.register', { manifest }, { ...LOCAL_CALLER, tenantId: 'second' });
    const request = { tool_id: 'in-turn', parameters: { n: 1 }, execution_options: { turn_group_id: 'the-same-turn' } };
    for (const cached of [false, true]) {
      for (const tenant_id of [VICTIM, 'second']) {
        const answer = await open.layer.invoke(request, { token: await signed({ tenant_id }) });
        expect(answer).toMatchObject({ status: 'success', result: { of: tenant_id }, execution_metadata: { cached } });
      }
    }
  });
});
