import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  type Caller,
  LOCAL_CALLER,
  type OperationInput,
  type OperationName,
} from '../../packages/sallyport/src/index.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from './layer.fixture.ts';

let open: OpenLayer;

const AGENT = 'did:example:a';
const PICKED = 'did:example:picked';
const CATALOG: Caller = { ...LOCAL_CALLER, tenantId: 'catalog' };
const GLOBEX: Caller = { ...LOCAL_CALLER, tenantId: 'globex' };

beforeAll(async () => {
  open = await openLayer();
  await open.layer.registerFunction(DOUBLE, double);
  await open.layer.registerFunction({ ...DOUBLE, tool_id: 'up1__send', description: 'Sends by one.' }, double);
  await open.layer.registerFunction({ ...DOUBLE, tool_id: 'up2__send', description: 'Sends by two.' }, double);
  await ask('tools.register', { manifest: { ...DOUBLE, tool_id: 'offer' } }, CATALOG);
});
afterAll(() => open[Symbol.asyncDispose]());
beforeEach(async () => {
  const { activations } = await ask('activations.list', {});
  for (const { agent_did, tool_id } of activations) await ask('activations.remove', { agent_did, tool_id });
  const { views } = await ask('views.list', {});
  for (const { name } of views) await ask('views.remove', { name });
});

const ask = <N extends OperationName>(name: N, input: OperationInput<N>, caller: Caller = LOCAL_CALLER) =>
  open.layer.ask(name, input, caller);

const minted = new Map<string, string>();
async function tokenFor(claims: Parameters<OpenLayer['layer']['mintToken']>[0]): Promise<string> {
  const key = JSON.stringify(claims);
  const known = minted.get(key) ?? (await open.layer.mintToken(claims)).capability_token;
  minted.set(key, known);
  return known;
}

/** The members of answers that the tests read. */
interface Body {
  readonly tools?: readonly { readonly name?: string; readonly tool_id: string }[];
  readonly manifests?: readonly { readonly tool_id: string }[];
  readonly manifest?: object;
  readonly result?: unknown;
  readonly tool_id?: string;
  readonly invocation_id?: string;
  readonly e_code?: string;
  readonly details?: { readonly faults: readonly { readonly path: string }[] };
  readonly error?: { readonly e_code: string };
}

/** Sends a request over REST, as an agent or with the claims given. */
async function rest(method: string, path: string, body?: unknown, claims: Parameters<typeof tokenFor>[0] = {}) {
  const response = await fetch(open.server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${await tokenFor({ agent_did: AGENT, ...claims })}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

const call = (tool_id: string, parameters: object = { n: 4 }, claims = {}) =>
  rest('POST', '/v1/invocations', { tool_id, parameters }, claims);
const names = (body: Body): string[] => (body.tools ?? []).map(({ name, tool_id }) => name ?? tool_id);
const OPERATOR = { roles: ['operator' as const] };
const e_code = (body: Body): string | undefined => body.e_code ?? body.error?.e_code;

const PICK = {
  name: 'picked',
  agents: [PICKED],
  conflict: 'priority' as const,
  sources: [
    {
      source: 'up1',
      tools: [{ tool: 'send', description: 'Sends a number.', default_arguments: { n: 21 } }],
    },
    { source: 'up2' },
    { source: 'local', tools: [{ tool: 'double', name: 'twice' }] },
  ],
};

describe('VIS-01 over REST and in the program', () => {
  test('VIS-01.2 VIS-01.4 a disabled tool is in no list, has no manifest and cannot be called; why is told on request', async () => {
    const { status } = await rest(
      'POST',
      '/v1/activations',
      { agent_did: AGENT, tool_id: 'double', enabled: false },
      OPERATOR,
    );
    expect(status).toBe(200);
    for (const { body } of [await call('double'), await rest('GET', '/v1/tools/double')])
      expect(e_code(body)).toBe('E3001');
    expect(names((await rest('GET', '/v1/tools')).body)).toEqual(['up1__send', 'up2__send']);
    const { body: manifests } = await rest('GET', '/v1/manifests');
    expect(manifests.manifests?.map(({ tool_id }) => tool_id)).not.toContain('double');
    const missing = await rest('GET', '/v1/visibility?list=agent-unavailable');
    expect(missing.body.tools).toMatchObject([{ name: 'double', why_unavailable: { code: 'disabled_for_agent' } }]);
    const operator = await rest('GET', '/v1/tools', undefined, OPERATOR);
    expect(names(operator.body)).toContain('double');
    expect((await call('double', { n: 4 }, { agent_did: 'did:example:b' })).status).toBe(200);
    await rest('DELETE', `/v1/activations/double?agent_did=${encodeURIComponent(AGENT)}`, undefined, OPERATOR);
    expect((await call('double')).body.result).toEqual({ value: 8 });
  });

  test('VIS-01.3 overrides show in the manifest of that agent and hold for its calls', async () => {
    const policy_overrides = { requires_confirmation: true, confirmation_prompt: 'Double it?' };
    await ask('activations.set', { agent_did: AGENT, tool_id: 'double', policy_overrides });
    const { body } = await rest('GET', '/v1/tools/double');
    expect(body.manifest).toMatchObject(policy_overrides);
    const { body: answer } = await call('double');
    expect(answer).toMatchObject({ status: 'pending_approval', approval: { reason: 'requires_confirmation' } });
    const { body: tenant } = await rest('GET', '/v1/visibility?list=agent-enabled');
    expect(tenant.tools).toMatchObject([{ name: 'double', requires_confirmation: true }, {}, {}]);
  });

  test('VIS-01.1 a tool of the catalogue is on offer to every tenant, and is had by the one that took it', async () => {
    expect(e_code((await call('offer')).body)).toBe('E3001');
    expect(names((await rest('GET', '/v1/visibility?list=catalog')).body)).toContain('offer');
    await rest('POST', '/v1/availability', { tool_id: 'offer', available: true }, OPERATOR);
    expect(names((await rest('GET', '/v1/tools')).body)).toContain('offer');
    expect((await rest('GET', '/v1/tools/offer')).status).toBe(200);
    expect((await rest('GET', '/v1/tools/offer', undefined, { tenant_id: 'globex' })).status).toBe(404);
    await ask('availability.set', { tool_id: 'offer', available: false });
    expect((await rest('GET', '/v1/tools/offer')).status).toBe(404);
    expect((await ask('availability.list', {})).availability).toMatchObject([{ tool_id: 'offer', available: false }]);
    expect((await ask('availability.list', {}, GLOBEX)).availability).toEqual([]);
  });

  test('a tool of the catalogue runs for the tenant that took it, and not for another', async () => {
    await ask('tools.register', { manifest: { ...DOUBLE } }, CATALOG);
    const globex = { tenant_id: 'globex' };
    expect(e_code((await call('double', { n: 3 }, globex)).body)).toBe('E3001');
    await ask('availability.set', { tool_id: 'double', available: true }, GLOBEX);
    expect((await call('double', { n: 3 }, globex)).body.result).toEqual({ value: 6 });
    expect(e_code((await call('double', { n: 3 }, { tenant_id: 'initech' })).body)).toBe('E3001');
    await ask('activations.set', { agent_did: AGENT, tool_id: 'double', enabled: false }, GLOBEX);
    expect(e_code((await call('double', { n: 3 }, globex)).body)).toBe('E3001');
    expect((await call('double')).body.result).toEqual({ value: 8 });
  });

  test('only an admin of the tenant that offers changes what it offers', async () => {
    const manifest = { ...DOUBLE, tool_id: 'another-offer' };
    const as = (role: 'operator' | 'admin') =>
      rest('POST', '/v1/tools', { manifest }, { tenant_id: 'catalog', roles: [role] });
    const refused = await as('operator');
    expect([refused.status, e_code(refused.body)]).toEqual([403, 'E3213']);
    expect((await rest('GET', '/v1/views', undefined, { tenant_id: 'catalog', ...OPERATOR })).status).toBe(200);
    expect((await as('admin')).status).toBe(201);
  });

  test('who may ask and what about is checked', async () => {
    const put = await rest('POST', '/v1/activations', { agent_did: AGENT, tool_id: 'double' });
    expect([put.status, e_code(put.body)]).toEqual([403, 'E3213']);
    const unknown = await rest('POST', '/v1/activations', { agent_did: AGENT, tool_id: 'none' }, OPERATOR);
    expect(e_code(unknown.body)).toBe('E3001');
    const loosened = { agent_did: AGENT, tool_id: 'double', policy_overrides: { requires_approval: false } };
    expect((await rest('POST', '/v1/activations', loosened, OPERATOR)).status).toBe(400);
    const other = `/v1/visibility?list=agent-enabled&agent_did=${encodeURIComponent(PICKED)}`;
    expect(e_code((await rest('GET', other)).body)).toBe('E3213');
    expect((await rest('GET', other, undefined, { roles: ['viewer'] })).status).toBe(200);
  });

  test('a token that does not cover a tool hides it, and calls keep their own refusal', async () => {
    const narrow = { tool_id: 'up*' };
    expect(names((await rest('GET', '/v1/tools', undefined, narrow)).body)).toEqual(['up1__send', 'up2__send']);
    const { body } = await rest('GET', '/v1/visibility?list=agent-unavailable', undefined, narrow);
    expect(body.tools).toMatchObject([{ name: 'double', why_unavailable: { code: 'not_in_token' } }]);
    expect(e_code((await call('double', { n: 1 }, narrow)).body)).toBe('E3209');
  });

  test('each change is on record', async () => {
    await ask('activations.set', { agent_did: AGENT, tool_id: 'double', enabled: false });
    await ask('views.put', { view: PICK });
    await ask('availability.set', { tool_id: 'offer', available: false });
    const { events } = await ask('audit.query', { type: 'ai.agent.registry.changed', limit: 1000 });
    const changes = events.map(({ data }) => data['change']);
    expect(changes.slice(-3)).toEqual(['activation-set', 'view-put', 'availability-set']);
  });
});

describe('REG-13 a view over every door', () => {
  test('REG-13.2 REG-13.5 REG-13.7 REG-09.4 its agents see its tools under its names, by REST', async () => {
    const put = await rest('POST', '/v1/views', { view: PICK }, OPERATOR);
    expect(put.status).toBe(200);
    expect(put.body).toMatchObject({
      tools: [
        { name: 'send', tool_id: 'up1__send' },
        { name: 'twice', tool_id: 'double' },
      ],
      dropped: [{ tool_id: 'up2__send', name: 'send', reason: 'send went to up1__send.' }],
    });
    const picked = { agent_did: PICKED };
    expect(names((await rest('GET', '/v1/tools', undefined, picked)).body)).toEqual(['send', 'twice']);
    const { body } = await rest('GET', '/v1/tools/send', undefined, picked);
    expect(body.manifest).toMatchObject({
      tool_id: 'send',
      description: 'Sends a number.',
      parameters_schema: { properties: { n: { default: 21 } }, required: [] },
    });
    expect((await rest('GET', '/v1/tools/up1__send', undefined, picked)).status).toBe(404);
    expect((await call('send', {}, picked)).body).toMatchObject({ tool_id: 'send', result: { value: 42 } });
    expect((await call('send', { n: 1 }, picked)).body.result).toEqual({ value: 2 });
    expect(e_code((await call('double', { n: 1 }, picked)).body)).toBe('E3001');
    expect((await call('double')).status).toBe(200);
    const { body: native } = await rest('GET', '/v1/tools?executor=native&page_size=1&page=2', undefined, picked);
    expect(native).toMatchObject({ tools: [{ tool_id: 'twice' }], pagination: { total_count: 2 } });
    expect(names((await rest('GET', '/v1/tools?executor=shell', undefined, picked)).body)).toEqual([]);
  });

  test('by the MCP gateway, which tells its clients of a change', async () => {
    await ask('views.put', { view: PICK });
    const requestInit = { headers: { Authorization: `Bearer ${await tokenFor({ agent_did: PICKED })}` } };
    const client = new Client({ name: 'views', version: '1.0.0' });
    onTestFinished(() => client.close());
    const changed = Promise.withResolvers<void>();
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve());
    await client.connect(new StreamableHTTPClientTransport(new URL(`${open.server.url}/mcp`), { requestInit }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ['send', 'Sends a number.'],
      ['twice', 'Doubles a number.'],
    ]);
    const answer = await client.callTool({ name: 'twice', arguments: { n: 5 } });
    expect(answer.structuredContent).toMatchObject({ value: 10 });
    await ask('activations.set', { agent_did: PICKED, tool_id: 'double', enabled: false });
    await changed.promise;
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['send']);
  });

  test('the record and the audit carry the tool itself and the name that was asked for', async () => {
    await ask('views.put', { view: PICK });
    const { body } = await call('twice', { n: 3 }, { agent_did: PICKED });
    const { events } = await ask('audit.query', { invocation_id: body.invocation_id ?? '' });
    expect(events.at(-1)?.data).toMatchObject({ tool_id: 'double', called_as: 'twice' });
    const { body: status } = await rest('GET', `/v1/invocations/${body.invocation_id}`, undefined, {
      agent_did: PICKED,
    });
    expect(status.tool_id).toBe('twice');
  });

  test('REG-13.6 a faulty view changes nothing and is told every fault with its place', async () => {
    await ask('views.put', { view: PICK });
    const faulty = {
      ...PICK,
      conflict: 'manual',
      sources: [
        { source: 'up1', tools: [{ tool: 'send', name: 'double', default_arguments: { n: 'many', other: 1 } }] },
        { source: 'nowhere' },
      ],
    };
    const { status, body } = await rest('POST', '/v1/views', { view: faulty }, OPERATOR);
    expect([status, e_code(body)]).toEqual([400, 'E3801']);
    expect(body.details?.faults.map(({ path }) => path).toSorted()).toEqual([
      '/view/sources/0/tools/0/default_arguments/n',
      '/view/sources/0/tools/0/default_arguments/other',
      '/view/sources/0/tools/0/name',
      '/view/sources/1/source',
    ]);
    expect((await ask('views.get', { name: 'picked' })).view).toEqual(PICK);
    const conflict = { ...PICK, conflict: 'manual' as const };
    await expect(ask('views.put', { view: conflict })).rejects.toMatchObject({
      code: 'E3801',
      message: expect.stringContaining('up1__send, up2__send'),
    });
    const cyrillic = { ...PICK, sources: [{ source: 'up1', tools: [{ tool: 'send', name: 'sеnd' }] }] };
    await expect(ask('views.put', { view: cyrillic })).rejects.toMatchObject({ code: 'E3801' });
  });

  test('views are of one tenant', async () => {
    await ask('views.put', { view: { ...PICK, agents: ['*'] } });
    expect((await ask('views.list', {}, GLOBEX)).views).toEqual([]);
    await expect(ask('views.get', { name: 'picked' }, GLOBEX)).rejects.toMatchObject({ code: 'E3809' });
    expect(await ask('views.remove', { name: 'picked' }, GLOBEX)).toEqual({ name: 'picked', removed: false });
    expect(await ask('views.list', {})).toMatchObject({ views: [{ name: 'picked', tool_count: 2, dropped_count: 1 }] });
  });

  test('REG-13.3 a view for every agent leaves those with a view of their own alone', async () => {
    await ask('views.put', { view: PICK });
    const rest2 = { name: 'others', agents: ['*' as const], conflict: 'prefix' as const, sources: [{ source: 'up2' }] };
    await ask('views.put', { view: rest2 });
    expect(names((await rest('GET', '/v1/tools')).body)).toEqual(['up2__send']);
    expect(names((await rest('GET', '/v1/tools', undefined, { agent_did: PICKED })).body)).toEqual(['send', 'twice']);
    expect(names((await rest('GET', '/v1/tools', undefined, OPERATOR)).body)).toContain('double');
  });
});
