import { createHash } from 'node:crypto';
import { ERRORS, type ErrorCode } from '@sallyport/std/error/catalogue';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OPERATIONS, type OperationEntry, type OperationName } from '../../operations/catalogue.ts';
import { openTestDoor } from '../mcp-transports/doors.fixture.ts';
import { createLayerDouble, manifestOf } from '../tool-layer.fixture.ts';
import { type RunningDoor, startRestDoor } from './rest-door.fixture.ts';

let running: RunningDoor;

beforeEach(async () => {
  running = await startRestDoor();
  running.layer.addTool(manifestOf('add'), ({ a, b }) => ({ sum: Number(a) + Number(b) }));
});

afterEach(() => running.door.close());

const VALUE = { type: 'json', base64: '' };

describe('operations', () => {
  it('API-01 a call answers with the response of BC-2', async () => {
    const call = { tool_id: 'add', parameters: { a: 1, b: 2 } };
    const response = await running.ask('POST', '/v1/invocations', call, { traceparent: '00-aa-bb-01' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toMatchObject({ status: 'success', result: { sum: 3 } });
    expect(running.layer.asked[0]).toMatchObject({
      operation: 'tools.invoke',
      input: call,
      caller: { door: 'rest', token: 'agent', traceparent: '00-aa-bb-01' },
    });
  });

  it('API-01 each operation has its route, and gets path, query and body as its input', async () => {
    const examples: Partial<Record<OperationName, object>> = {
      'tools.register': { manifest: manifestOf('x') },
      'tools.import-openapi': { document: '{}' },
      'upstreams.add': { upstream: { name: 'u', transport: { type: 'http', url: 'http://localhost:1' } } },
      'upstreams.import': { configuration: '{}' },
      'tools.invoke': { tool_id: 'add' },
      'tools.dry-run': { tool_id: 'add' },
      'invocations.extend': { extend_seconds: 60 },
      'audit.verify-anchors': { anchors: [] },
      'circuits.set': { state: 'closed' },
      'outcomes.settle': { outcome: 'happened', note: 'It is there.' },
      'outcomes.reconcile': { tool_id: 'add' },
      'approvals.answer': { answer_token: 't'.repeat(43), decision: 'deny' },
      'approvals.delegate': { to: 'did:x', for_seconds: 60 },
      'visibility.list': { list: 'catalog' },
      'offers.list': { list: 'resources' },
      'availability.set': { tool_id: 'add', available: true },
      'activations.set': { agent_did: 'did:x', tool_id: 'add' },
      'activations.remove': { agent_did: 'did:x' },
      'views.put': { view: { name: 'v', agents: [], conflict: 'prefix', sources: [{ source: 'u' }] } },
      'tools.search': { query: 'add' },
      'tools.restore': { version: '1.0.0' },
      'tools.diff': { from: '1.0.0' },
      'tools.check': { manifest: manifestOf('x') },
      'tools.import-langchain': { tools: [{ name: 'x', url: 'http://localhost:1' }] },
      'upstreams.finish-login': { redirected_to: 'http://127.0.0.1:1/callback?code=a' },
      'checkpoints.list': { invocation_id: 'call-1' },
      'checkpoints.diff': { with: 'c' },
      'threads.save': { checkpoint_id: 'c', state: VALUE, metadata: VALUE, versions: {}, values: [] },
      'threads.write': { checkpoint_id: 'c', writes: [] },
      'tokens.explain': { token: 'a.b.c' },
      'tokens.revoke': { jti: 'j' },
      'api-keys.create': { name: 'k' },
      'tools.import-skill': { files: [{ path: 'SKILL.md', content: '' }] },
      'tools.import-composio': { toolkit: 'github', tools: ['GITHUB_LIST'], user_from: 'tenant' },
    };
    const members: Record<string, string> = {
      invocation_id: 'call-1',
      tool_id: 'add',
      name: 'u',
      revocation_id: 'r',
      key_id: 'k',
      approval_id: 'a',
      rule_id: 'r',
      delegation_id: 'd',
      thread_id: 't',
      checkpoint_id: 'c',
    };
    for (const [name, entry] of Object.entries<OperationEntry>(OPERATIONS) as [OperationName, OperationEntry][]) {
      running.layer.answers.set(name, () => ({ name, status: 'success' }));
      const inPath = [...entry.path.matchAll(/\{(\w+)\}/g)].map(([, member]) => String(member));
      const path = entry.path.replaceAll(/\{(\w+)\}/g, (_all, member) => members[member] ?? '');
      const example = examples[name] ?? {};
      const inBody = entry.method === 'POST';
      const query = inBody ? '' : `?${new URLSearchParams(Object.entries(example))}`;
      const body = inBody ? example : undefined;
      const response = await running.ask(entry.method, path + query, body, { authorization: 'Bearer operator' });
      expect([name, response.status]).toEqual([name, entry.status]);
      expect(await response.json()).toMatchObject({ name });
      const given = Object.fromEntries(inPath.map((member) => [member, members[member]]));
      expect(running.layer.asked.at(-1)).toMatchObject({ operation: name, input: { ...example, ...given } });
    }
  });

  it('reads lists, numbers, booleans and objects from the query', async () => {
    await running.ask('GET', '/v1/tools?page=2&tags=a&tags=b&capability_query=x%20y');
    expect(running.layer.asked[0]?.input).toEqual({ page: 2, tags: ['a', 'b'], capability_query: 'x y' });
    const context = { agent_did: 'did:x', tenant_id: 't' };
    running.layer.answers.set('invocations.get', () => ({}));
    await running.ask('GET', `/v1/invocations/call-1?agent_context=${encodeURIComponent(JSON.stringify(context))}`);
    expect(running.layer.asked[1]?.input).toEqual({ invocation_id: 'call-1', agent_context: context });
    running.layer.answers.set('audit.query', () => ({ events: [], next: 0 }));
    await running.ask('GET', '/v1/audit?newest=true&limit=5', undefined, { authorization: 'Bearer operator' });
    expect(running.layer.asked[2]?.input).toEqual({ newest: true, limit: 5 });
  });

  it.each([
    ['page=x', '/page'],
    ['page=1.5', '/page'],
    ['page=1&page=2', '/page'],
    ['page=0', '/page'],
    ['colour=red', '/colour'],
    ['__proto__=1', '/__proto__'],
  ])('a query of %s is refused with its place', async (query, path) => {
    const response = await running.ask('GET', `/v1/tools?${query}`);
    expect(response.status).toBe(400);
    const { e_code, details } = (await response.json()) as { e_code: string; details: { faults: { path: string }[] } };
    expect(e_code).toBe('E3801');
    expect(details.faults.map((fault) => fault.path)).toContain(path);
  });

  it('a token in the body serves too', async () => {
    const call = { tool_id: 'add', capability_token: 'agent' };
    expect((await running.ask('POST', '/v1/invocations', call, { authorization: '' })).status).toBe(200);
  });
});

describe('errors', () => {
  it('API-01.8 PIPE-04.2 each code becomes the status of its catalogue row', async () => {
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      const thrown = new ToolLayerError(code, `It was ${code}.`, { retryAfterMs: 1_500 });
      running.layer.addTool(manifestOf('fails'), () => Promise.reject(thrown));
      running.layer.answers.set('tools.list', () => Promise.reject(thrown));
      const { http, wire, category, retryable } = ERRORS[code];
      const called = await running.ask('POST', '/v1/invocations', { tool_id: 'fails' });
      expect([code, called.status]).toEqual([code, http]);
      expect(await called.json()).toMatchObject({ status: 'error', error: { code: wire, e_code: code, retryable } });
      const listed = await running.ask('GET', '/v1/tools');
      expect([code, listed.status]).toEqual([code, http]);
      expect(listed.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
      expect(listed.headers.get('retry-after')).toBe('2');
      const challenged = http === 401 || code === 'E3209' || code === 'E3213' || code === 'E3215';
      expect(listed.headers.has('www-authenticate')).toBe(challenged);
      expect(await listed.json()).toMatchObject({ status: http, e_code: code, category, detail: `It was ${code}.` });
    }
  });

  it('a fault of our own keeps its cause for the log and says nothing of it', async () => {
    running.layer.answers.set('tools.list', () => Promise.reject(new TypeError('password is hunter2')));
    const response = await running.ask('GET', '/v1/tools');
    expect(response.status).toBe(500);
    const body = await response.text();
    expect(body).toContain('E3900');
    expect(body).not.toContain('hunter2');
    expect(running.errors).toEqual(['rest-request-failed']);
  });

  it('no token is asked for with the scheme, a bad one with the reason', async () => {
    const none = await running.ask('GET', '/v1/tools', undefined, { authorization: '' });
    const metadata = `resource_metadata="${running.url}/.well-known/oauth-protected-resource"`;
    expect(none.headers.get('www-authenticate')).toBe(`Bearer realm="sallyport", ${metadata}`);
    const forged = await running.ask('GET', '/v1/tools', undefined, { authorization: 'bearer forged' });
    expect(forged.headers.get('www-authenticate')).toBe(`Bearer realm="sallyport", error="invalid_token", ${metadata}`);
  });

  it('an asynchronous call that was accepted answers with 202', async () => {
    running.layer.answers.set('tools.invoke', () => ({ invocation_id: 'a', status: 'pending' }));
    expect((await running.ask('POST', '/v1/invocations', { tool_id: 'add' })).status).toBe(202);
  });
});

describe('the life of connections', () => {
  it('a client that goes away ends its call', async () => {
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    running.layer.addTool(manifestOf('wait'), async (_parameters, { signal }) => {
      started.resolve();
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
      ended.resolve();
    });
    const client = new AbortController();
    const { url } = running;
    const headers = { authorization: 'Bearer agent', 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: '{"tool_id":"wait"}', signal: client.signal };
    const call = fetch(`${url}/v1/invocations`, init);
    await started.promise;
    client.abort();
    await expect(call).rejects.toThrow();
    await ended.promise;
  });

  it('a call that was answered is never cancelled afterwards', async () => {
    await (await running.ask('POST', '/v1/invocations', { tool_id: 'add' })).text();
    await running.door.close();
    expect(running.layer.asked[0]?.caller.signal?.aborted).toBe(false);
  });

  it('closing lets a running call end, and cuts it after the grace', async () => {
    const finish = Promise.withResolvers<string>();
    const started = Promise.withResolvers<void>();
    running.layer.addTool(manifestOf('wait'), () => {
      started.resolve();
      return finish.promise;
    });
    const call = running.ask('POST', '/v1/invocations', { tool_id: 'wait' });
    await started.promise;
    const closed = running.door.close();
    finish.resolve('done');
    expect(await (await call).json()).toMatchObject({ result: 'done' });
    await closed;

    const hurried = await startRestDoor({ closeGraceMs: 10, cutAnswerMs: 10 });
    hurried.layer.addTool(manifestOf('never'), () => new Promise(() => {}));
    const cut = hurried.ask('POST', '/v1/invocations', { tool_id: 'never' });
    cut.catch(() => {});
    while (hurried.layer.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await hurried.door.close();
    await expect(cut).rejects.toThrow();
  });

  it('a port in use is an error that names the port and the setting', async () => {
    const port = Number(new URL(running.url).port);
    const second = openTestDoor(createLayerDouble());
    await expect(second.listen(port)).rejects.toMatchObject({
      code: 'E3900',
      message: expect.stringMatching(new RegExp(`${port}.*SALLYPORT_SERVER_PORT`)),
    });
    await second.close();
  });
});

describe('routes that are no operation', () => {
  it('health answers 200 when ready, 503 when not, and names why', async () => {
    expect((await running.ask('GET', '/healthz')).status).toBe(200);
    expect(await (await running.ask('GET', '/readyz')).json()).toEqual({ ready: true, status: 'ready' });
    running.layer.answers.set('health', () => ({ status: 'starting', ready: false, parts: {} }));
    const health = await running.ask('GET', '/healthz', undefined, { authorization: '' });
    expect(health.status).toBe(503);
    expect(await health.json()).toMatchObject({ status: 'starting' });
    expect((await running.ask('GET', '/readyz')).status).toBe(503);
  });

  it('serves the OpenAPI document and an index page that links to it', async () => {
    expect(await (await running.ask('GET', '/openapi.json')).json()).toEqual({ openapi: '3.1.0' });
    const index = await running.ask('GET', '/');
    expect(index.headers.get('content-type')).toContain('text/html');
    const page = await index.text();
    expect(page).toContain('/openapi.json');
    // A browser ignores a style sheet whose hash the policy does not name.
    const style = /<style>(.*)<\/style>/s.exec(page)?.[1] ?? '';
    const policy = index.headers.get('content-security-policy');
    expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(policy).toContain("default-src 'none'");
  });
});
