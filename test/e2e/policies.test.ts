import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type PolicyServer,
  policyServer,
  sendJson,
} from '../../packages/sallyport/src/permission/policies/policy.fixture.ts';
import { DOUBLE, type OpenLayer, openLayer, post } from './layer.fixture.ts';

let open: OpenLayer;
beforeAll(async () => {
  open = await openLayer();
  await open.layer.registerFunction(DOUBLE, ({ n }) => Number(n) * 2);
});
afterAll(() => open[Symbol.asyncDispose]());

const LOCAL = { door: 'library', local: true } as const;
/** Writes a policy file atomically, so that the watcher of the folder never reads half of it. */
async function write(name: string, text: string): Promise<void> {
  const draft = join(open.folder, `${name}.draft`);
  await writeFile(draft, text);
  await rename(draft, join(open.folder, 'policies', name));
}
const call = () => open.layer.invoke({ tool_id: 'double', parameters: { n: 4 } }, { token: open.token });
const ENOUGH_MS = 50_000;

test('PRM-04.2 PRM-05 OPS-01.4 a policy file that changes is in force without a restart, and policies.explain says what it did', async () => {
  expect(await call()).toMatchObject({ status: 'success' });
  await write('own.cedar', '@id("closed")\nforbid (principal, action, resource) when { resource.id == "double" };');
  await vi.waitFor(async () => expect(await call()).toMatchObject({ error: { e_code: 'E3210' } }), ENOUGH_MS);
  const { invocation_id } = await call();
  const why = await open.layer.ask('policies.explain', { invocation_id }, LOCAL);
  expect(why).toMatchObject({ tool_id: 'double', allowed: false });
  expect(why.engines[0]?.decided).toMatchObject([
    { name: 'own.cedar:closed', effect: 'deny', file: 'own.cedar', line: 1, held: ['resource.id == "double"'] },
  ]);
  await write('own.cedar', 'forbid (');
  await vi.waitFor(async () => {
    const { engines } = await open.layer.ask('policies.list', {}, LOCAL);
    expect(engines[0]?.fault).toMatchObject({ file: 'own.cedar', line: 1 });
  }, ENOUGH_MS);
  expect(await call()).toMatchObject({ error: { e_code: 'E3210' } });
  await expect(open.layer.ask('policies.reload', {}, LOCAL)).rejects.toMatchObject({ code: 'E3214' });
  await write('own.cedar', '');
  // The watcher of the folder may have read the file before this reload does.
  expect(await open.layer.ask('policies.reload', {}, LOCAL)).toMatchObject({
    engines: [{ engine: 'cedar', policies: 1 }],
  });
  expect(await call()).toMatchObject({ status: 'success' });
});

test('AUD-01 every change of the policies is on record: what came into force, what was kept out, and who asked', async () => {
  const { capability_token: token } = await open.layer.mintToken({
    agent_did: 'did:example:keeper',
    roles: ['operator'],
  });
  const changes = async () => {
    const query = { type: 'ai.agent.policy.changed', limit: 1000 } as const;
    return (await open.layer.ask('audit.query', query, LOCAL)).events.map(({ data, tenantid }) => ({
      ...data,
      tenantid,
    }));
  };
  const before = await changes();
  const [{ version } = { version: '' }] = (await open.layer.ask('policies.list', {}, LOCAL)).engines;
  // Both the watcher and the reload see a change; the change is recorded once, by the faster of the two.
  await write('own.cedar', '@id("audited")\nforbid (principal, action, resource) when { resource.id == "never" };');
  await open.layer.ask('policies.reload', {}, { door: 'rest', token });
  await write('own.cedar', 'forbid (');
  await expect(open.layer.ask('policies.reload', {}, { door: 'rest', token })).rejects.toMatchObject({ code: 'E3214' });
  const [taken, refused, ...more] = (await changes()).slice(before.length) as Record<string, unknown>[];
  expect(more).toEqual([]);
  expect(taken).toMatchObject({
    change: 'in-force',
    engine: 'cedar',
    version_before: version,
    policies: 2,
    tenantid: 'default',
  });
  expect(taken?.['version']).not.toBe(version);
  expect(refused).toMatchObject({
    change: 'kept-out',
    engine: 'cedar',
    version: taken?.['version'],
    version_before: taken?.['version'],
    file: 'own.cedar',
    line: 1,
    reason: expect.stringContaining('own.cedar, line 1'),
  });
  for (const each of [taken, refused]) expect(['did:sallyport:layer', 'did:example:keeper']).toContain(each?.['by']);
  await write('own.cedar', '');
  await open.layer.ask('policies.reload', {}, LOCAL);
  expect(await open.layer.ask('audit.verify', {}, LOCAL)).toMatchObject({ whole: true });
});

test('policies can be tested before they are in force', async () => {
  const tests = [
    { name: 'a.test.toml', text: '[[cases]]\nname = "double runs"\nexpect = "allow"\ntool.tool_id = "double"\n' },
  ];
  const own = await open.layer.ask('policies.test', { tests }, LOCAL);
  expect(own).toMatchObject({ passed: 1, failed: 0, faults: [] });
  const policies = [{ name: 'x.cedar', text: 'forbid (principal, action, resource);' }];
  expect(await open.layer.ask('policies.test', { tests, policies }, LOCAL)).toMatchObject({ passed: 0, failed: 1 });
  const broken = [{ name: 'x.cedar', text: 'forbid' }];
  const answer = await open.layer.ask('policies.test', { tests, policies: broken }, LOCAL);
  expect(answer.faults).toMatchObject([{ file: 'x.cedar', line: 1 }]);
  expect(await call()).toMatchObject({ status: 'success' });
});

test('a question about a call that nobody made is filled in from the registry', async () => {
  const why = await open.layer.ask('policies.explain', { question: { tool: { tool_id: 'double' } } }, LOCAL);
  expect(why).toMatchObject({ allowed: true, assumed: [], engines: [{ engine: 'cedar', allowed: true }] });
  await expect(open.layer.ask('policies.explain', {}, LOCAL)).rejects.toMatchObject({ code: 'E3801' });
  await expect(open.layer.ask('policies.explain', { invocation_id: 'none' }, LOCAL)).rejects.toMatchObject({
    code: 'E3809',
  });
});

test('the policies are shown to nobody of another tenant, nor are its calls explained', async () => {
  const { capability_token: token } = await open.layer.mintToken({ tenant_id: 'other', roles: ['operator'] });
  const other = { door: 'rest', token } as const;
  for (const operation of ['policies.list', 'policies.reload', 'policies.test'] as const)
    await expect(open.layer.ask(operation, {}, other), operation).rejects.toMatchObject({ code: 'E3213' });
  const { invocation_id } = await call();
  await expect(open.layer.ask('policies.explain', { invocation_id }, other)).rejects.toMatchObject({ code: 'E3809' });
  expect(await readFile(join(open.folder, 'policies', 'default.cedar'), 'utf8')).toContain('permit (');
});

test('PRM-10 to others than its keepers a policy that decides is named, and nothing in it: it may name every tenant', async () => {
  const { capability_token: token } = await open.layer.mintToken({ tenant_id: 'other', roles: ['viewer'] });
  const viewer = { door: 'rest', token } as const;
  const question = { tool: { tool_id: 'pay' } };
  await write(
    'partners.cedar',
    '@id("partners")\nforbid (principal, action, resource) when { ["other", "rival"].contains(principal.tenant) && resource.id == "pay" };',
  );
  await vi.waitFor(async () => {
    const { engines } = await open.layer.ask('policies.list', {}, LOCAL);
    expect(engines[0]?.policies.map(({ name }) => name)).toContain('partners.cedar:partners');
  }, ENOUGH_MS);
  const all = { principal: { tenant_id: 'other' }, ...question };
  const kept = await open.layer.ask('policies.explain', { question: all }, LOCAL);
  expect(kept.engines[0]?.decided).toMatchObject([{ text: expect.stringContaining('rival'), line: 1 }]);
  const seen = await open.layer.ask('policies.explain', { question }, viewer);
  expect(seen).toMatchObject({ allowed: false });
  const named = { name: 'partners.cedar:partners', effect: 'deny', mode: 'enforce', held: [], unmet: [] };
  expect(seen.engines[0]).toMatchObject({ decided: [named], nearest: [], changes: ['Ask who keeps the policies.'] });
  expect(JSON.stringify(seen)).not.toContain('rival');
  const other = await open.layer.ask('policies.explain', { question: { tool: { tool_id: 'double' } } }, viewer);
  expect(other).toMatchObject({ allowed: true });
  expect(other.engines[0]?.decided.map((decided) => 'text' in decided)).toEqual([false]);
  await write('partners.cedar', '');
  await open.layer.ask('policies.reload', {}, LOCAL);
});

test('PRM-09.1 a caller states each phase that there is, and no other', async () => {
  const invoke = (phase: string) => {
    const request = { tool_id: 'double', parameters: { n: 1 }, execution_options: { phase } };
    return post(open, '/v1/invocations', JSON.stringify(request));
  };
  for (const phase of ['planner', 'executor', 'verifier', 'autonomous']) {
    const { body } = await invoke(phase);
    expect(body['status']).toBe('success');
    const { events } = await open.layer.ask('audit.query', { invocation_id: String(body['invocation_id']) }, LOCAL);
    expect(events.at(-1)?.data).toMatchObject({ phase });
  }
  expect((await invoke('night')).status).toBe(400);
});

let server: PolicyServer;
beforeAll(async () => {
  server = await policyServer(() => undefined);
});
afterAll(() => server[Symbol.asyncDispose]());

/** A layer that asks one external policy engine, and a function that calls its one tool. */
async function asking(engine: 'abac' | 'opa', endpoint: string) {
  const endpoints = { abac: 'permission.abac_endpoint', opa: 'permission.opa_endpoint' } as const;
  const open = await openLayer({ 'permission.engines': [engine], [endpoints[engine]]: endpoint });
  await open.layer.registerFunction(DOUBLE, ({ n }) => Number(n));
  const call = (n: number) => open.layer.invoke({ tool_id: 'double', parameters: { n } }, { token: open.token });
  return { ...open, call };
}

test('PRM-04.4 PRM-04.5 PRM-04.8 the ABAC endpoint is asked for 500 ms, and a call is denied where it does not answer', async () => {
  await using open = await asking('abac', server.url);
  server.reply = () => undefined;
  const unanswered = await open.call(1);
  expect(unanswered).toMatchObject({ status: 'permission_denied', error: { e_code: 'E3206' } });
  expect(unanswered.error?.message).toContain('500 ms');
  server.reply = (response) => sendJson(response, { allowed: true, reason: 'p-1', cache_ttl_seconds: 0 });
  // On a busy machine an answer may take longer than 500 ms.
  await expect.poll(async () => (await open.call(1)).status).toBe('success');
  expect(server.requests.at(-1)).toMatchObject({
    method: 'POST',
    path: '/api/v1/abac/check-permission',
    body: { resource_type: 'tool', resource_id: 'double', action: 'execute' },
  });
});

test('PRM-04.3 PRM-05.3 what OPA decided is remembered until the policies are said to have changed', async () => {
  await using open = await asking('opa', `${server.url}/v1/data/allow`);
  server.reply = (response) => sendJson(response, { result: true });
  await expect.poll(async () => (await open.call(1)).status).toBe('success');
  server.reply = (response) => sendJson(response, { result: false });
  const asked = server.requests.length;
  expect(await open.call(2)).toMatchObject({ status: 'success' });
  expect(server.requests).toHaveLength(asked);
  await open.layer.ask('policies.reload', {}, LOCAL);
  await expect.poll(async () => (await open.call(2)).error?.e_code).toBe('E3210');
});

test('PRM-08.7 operators are shown the state of the gate over REST, and nothing of a gate that is not enabled', async () => {
  expect(await open.layer.ask('policies.list', {}, LOCAL)).not.toHaveProperty('gate');
  await using gated = await openLayer({
    'gate.enabled': true,
    'gate.policies': ['Nothing is deleted.', 'Nothing is sent.'],
    'model.url': 'http://127.0.0.1:9/v1',
    'model.name': 'judge',
  });
  const { capability_token: token } = await gated.layer.mintToken({ roles: ['viewer'] });
  const response = await fetch(`${gated.server.url}/v1/policies`, { headers: { authorization: `Bearer ${token}` } });
  expect(await response.json()).toMatchObject({
    gate: { model: expect.stringMatching(/^127\.0\.0\.1:9.*judge$/), policies: 2, fail_open: false },
  });
});
