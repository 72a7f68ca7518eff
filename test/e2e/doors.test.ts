import { setTimeout as wait } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { sha256 } from '@sallyport/std/sha256';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createRemoteLayer } from '../../packages/sallyport/src/doors/remote/remote-layer.ts';
import { LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import { DOUBLE, double, type OpenLayer, openLayer, post } from './layer.fixture.ts';

let open: OpenLayer;
beforeAll(async () => {
  open = await openLayer({ 'audit.checkpoint_seconds': 0.1 });
  await open.layer.registerFunction(DOUBLE, double);
  await open.layer.registerFunction({ ...DOUBLE, tool_id: 'slow' }, ({ n }) => wait(Number(n), { value: 1 }));
});
afterAll(() => open[Symbol.asyncDispose]());

describe('the doors of one layer', () => {
  test('API-01 API-03.7 API-03.13 API-04.2 PIPE-02.2 give the same answer to the same call, and the same refusal', async () => {
    const { layer, server, token } = open;
    const remote = createRemoteLayer({ url: server.url });
    const client = new Client({ name: 'doors', version: '1.0.0' });
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));

    for (const parameters of [{ n: 21 }, { n: 'x' }]) {
      const request = { tool_id: 'double', parameters };
      const own = await layer.invoke({ ...request, capability_token: token });
      const rest = await post(open, '/v1/invocations', JSON.stringify(request));
      const far = await remote.ask('tools.invoke', request, { door: 'cli', token });
      const { status, result, error } = own;
      for (const answer of [rest.body, far]) {
        expect(answer).toMatchObject({ status, ...(error === undefined ? { result } : { error }) });
      }
      const called = await client.callTool({ name: 'double', arguments: parameters });
      expect(called.isError ?? false).toBe(error !== undefined);
      if (error === undefined) expect(called.structuredContent).toEqual(result);
      else expect(JSON.stringify(called.content)).toContain('/n');
    }
    await client.close();
  });

  test('PIPE-01 AUD-01.2 AUD-07.1 every state of a call is an event that can be read back', async () => {
    const { layer, token } = open;
    const { invocation_id } = await layer.invoke({ tool_id: 'double', parameters: { n: 1 }, capability_token: token });
    const { events } = await layer.ask('audit.query', { invocation_id }, LOCAL_CALLER);
    expect(events.map(({ type, data }) => [type, data['state']])).toEqual([
      ['ai.agent.tool.state_changed', 'DECLARED'],
      ['ai.agent.tool.state_changed', 'VALIDATED'],
      ['ai.agent.tool.state_changed', 'AUTHORIZED'],
      ['ai.agent.tool.invoked', 'EXECUTING'],
      ['ai.agent.tool.succeeded', 'COMPLETED'],
    ]);
    expect(await layer.ask('audit.verify', {}, LOCAL_CALLER)).toMatchObject({ whole: true });
  });

  test('PIPE-01.4 PIPE-01.5 every state of a call says what was granted, and the hashes of what went in and came out', async () => {
    const { layer } = open;
    const permissions = { filesystem: [{ path: process.cwd(), mode: 'ro' as const }] };
    await layer.registerFunction({ ...DOUBLE, tool_id: 'granted', permissions }, double);
    const { capability_token } = await layer.mintToken({ paths: [process.cwd()] });
    const { invocation_id } = await layer.invoke({ tool_id: 'granted', parameters: { n: 1 }, capability_token });
    const { events } = await layer.ask('audit.query', { invocation_id }, LOCAL_CALLER);
    const said = events.map(({ data }) => [
      data['state'],
      data['capabilities'],
      data['input_hash'],
      data['output_hash'],
    ]);
    const granted = [`filesystem:ro:${process.cwd()}`];
    const given = sha256('{"n":1}');
    expect(said.slice(2)).toEqual([
      ['AUTHORIZED', granted, given, undefined],
      ['EXECUTING', granted, given, undefined],
      ['COMPLETED', granted, given, sha256('{"value":2}')],
    ]);
  });

  test('PIPE-12.1 a later call may last for a day, one that somebody waits for a quarter of an hour', async () => {
    const { layer, token } = open;
    const ask = async (timeout_seconds: number, async_mode: boolean) => {
      const options = { resource_limits: { timeout_seconds }, execution_options: { async_mode } };
      const request = { tool_id: 'double', parameters: { n: 1 }, capability_token: token, ...options };
      return layer.invoke(request).then(
        ({ error }) => error?.e_code,
        ({ code }) => code,
      );
    };
    expect([await ask(900, false), await ask(901, false)]).toEqual([undefined, 'E3102']);
    expect([await ask(86_400, true), await ask(86_401, true)]).toEqual([undefined, 'E3801']);
  });

  test('AUD-01.3 AUD-01.9 AUD-07.1 MOD-01.5 a call that fails and one that runs out of time end with events of their own, each with its tenant and its place in the chain', async () => {
    const { layer, token } = open;
    const { result_schema: _, ...about } = DOUBLE;
    await layer.registerFunction({ ...about, tool_id: 'fails' }, () => Promise.reject(new Error('no')));
    for (const [call, type, error] of [
      [
        { tool_id: 'fails', parameters: { n: 1 } },
        'ai.agent.tool.failed',
        { e_code: 'E3109', category: 'PermanentFailure' },
      ],
      [
        { tool_id: 'slow', parameters: { n: 30_000 }, resource_limits: { timeout_seconds: 0.1 } },
        'ai.agent.tool.timeout',
        { e_code: 'E3103', category: 'Timeout' },
      ],
    ] as const) {
      const { invocation_id } = await layer.invoke({ ...call, capability_token: token });
      const { events } = await layer.ask('audit.query', { invocation_id }, LOCAL_CALLER);
      expect(events.at(-1)).toMatchObject({ type, subject: invocation_id, data: { error } });
      for (const [at, { tenantid, chainid, chainseq, chainprev }] of events.entries()) {
        expect([tenantid, chainid]).toEqual(['default', events[0]?.chainid]);
        const before = events[at - 1];
        if (before !== undefined) expect([chainseq, chainprev]).toEqual([before.chainseq + 1, before.chainhash]);
      }
    }
  });

  test('MOD-02.2 what a model thought aloud about a call that waits is neither in its row nor shown to approvers', async () => {
    const { layer, token } = open;
    const parameters = { n: 92, _tafc_think: 'ninety-two', _tafc_think_more: 'ninety-two' };
    const call = { tool_id: 'double', parameters, execution_options: { require_approval: true } };
    const { invocation_id, approval } = await layer.invoke({ ...call, capability_token: token });
    const { approval_id = '' } = approval ?? {};
    const shown = await layer.ask('approvals.get', { approval_id }, LOCAL_CALLER);
    expect(shown).toMatchObject({ parameters: { n: 92 } });
    expect(JSON.stringify(shown)).not.toContain('ninety-two');
    await layer.ask('approvals.approve', { approval_id }, LOCAL_CALLER);
    const state = () => layer.ask('invocations.get', { invocation_id }, LOCAL_CALLER);
    await expect.poll(state).toMatchObject({ state: 'COMPLETED', result: { value: 184 } });
  });

  test('MOD-02.4 what a model thought aloud about a call is in no event of it', async () => {
    const { layer, token } = open;
    const call = { tool_id: 'double', parameters: { n: 91, _tafc_think: 'ninety-one' }, capability_token: token };
    for (const parameters of [call.parameters, { ...call.parameters, n: 'x' }]) {
      const { invocation_id } = await layer.invoke({ ...call, parameters });
      const { events } = await layer.ask('audit.query', { invocation_id }, LOCAL_CALLER);
      expect(events.length).toBeGreaterThan(1);
      expect(JSON.stringify(events)).not.toMatch(/tafc|ninety-one/);
    }
  });

  test('API-01.1 OPS-02.4 a tool is listed, called, looked at and cancelled over REST, in the trace of its caller', async () => {
    const { layer, server, token } = open;
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    };
    const ask = async (method: string, path: string, body?: object) => {
      const sent = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
      return (await (await fetch(server.url + path, sent)).json()) as Record<string, unknown>;
    };
    const { tools } = (await ask('GET', '/v1/tools')) as { tools: { tool_id: string }[] };
    expect(tools.map(({ tool_id }) => tool_id)).toContain('slow');
    const invocation_id = 'traced';
    const called = ask('POST', '/v1/invocations', { tool_id: 'slow', parameters: { n: 30_000 }, invocation_id });
    await expect.poll(() => ask('GET', '/v1/invocations/traced')).toMatchObject({ status: 'running' });
    expect(await ask('DELETE', '/v1/invocations/traced')).toMatchObject({ cancelled: true });
    expect(await called).toMatchObject({ invocation_id, status: 'cancelled' });
    const { events } = await layer.ask('audit.query', { invocation_id }, LOCAL_CALLER);
    expect(new Set(events.map(({ data }) => data['trace_id']))).toEqual(new Set([traceId]));
  });

  test('AUD-06.1 API-01.5 events are found by agent and tool, within the tenant of whoever asks', async () => {
    const { layer, server } = open;
    const viewer = { agent_did: 'did:agent:viewer', roles: ['agent', 'viewer'] as const };
    const mint = async (more: object) =>
      (await layer.mintToken({ ...viewer, roles: [...viewer.roles], ...more })).capability_token;
    const [own, foreign] = [await mint({}), await mint({ tenant_id: 'another' })];
    const { invocation_id } = await layer.invoke({ tool_id: 'double', parameters: { n: 1 }, capability_token: own });
    const found = async (token: string, query: Record<string, string>) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${server.url}/v1/audit?${new URLSearchParams(query)}`, { headers });
      const { events } = (await response.json()) as {
        events: { subject: string; data: { agent_did?: string; tool_id?: string } }[];
      };
      return events;
    };
    const mine = await found(own, { agent_did: viewer.agent_did });
    expect(mine.map(({ subject }) => subject)).toContain(invocation_id);
    expect(new Set(mine.map(({ data }) => data.agent_did))).toEqual(new Set([viewer.agent_did]));
    const ofTool = await found(own, { tool_id: 'double' });
    expect(ofTool.length).toBeGreaterThan(mine.length);
    expect(new Set(ofTool.map(({ data }) => data.tool_id))).toEqual(new Set(['double']));
    expect(await found(own, { tool_id: 'slow', agent_did: viewer.agent_did })).toEqual([]);
    expect(await found(foreign, { tool_id: 'double' })).toEqual([]);
  });

  test('PIPE-06.5 API-01 a running call is seen, cancelled once, and cancelled again to no effect', async () => {
    const { layer, server, token } = open;
    const request = { tool_id: 'slow', invocation_id: 'to-cancel', parameters: { n: 30_000 }, capability_token: token };
    const running = layer.invoke(request);
    const address = `${server.url}/v1/invocations/to-cancel`;
    const headers = { authorization: `Bearer ${token}` };
    const ask = async (method: string) => (await fetch(address, { method, headers })).json();
    await expect.poll(() => ask('GET')).toMatchObject({ status: 'running', state: 'EXECUTING' });
    expect(await ask('DELETE')).toMatchObject({ cancelled: true });
    expect(await running).toMatchObject({ status: 'cancelled', error: { e_code: 'E3805' } });
    expect(await ask('DELETE')).toMatchObject({ cancelled: false });
    expect(await ask('GET')).toMatchObject({ status: 'cancelled', state: 'ABORTED' });
  });

  test('a token sees and asks only what is its own', async () => {
    const { layer } = open;
    const minted = await layer.mintToken({ tool_id: 'dou*', agent_did: 'did:agent:other', tenant_id: 'default' });
    const caller = { door: 'rest' as const, token: minted.capability_token };
    const { tools } = await layer.ask('tools.list', {}, caller);
    expect(tools.map(({ tool_id }) => tool_id)).toEqual(['double']);
    await expect(layer.ask('tools.get', { tool_id: 'slow' }, caller)).rejects.toMatchObject({ code: 'E3001' });
    await expect(layer.ask('invocations.get', { invocation_id: 'to-cancel' }, caller)).rejects.toMatchObject({
      code: 'E3809',
    });
    await expect(layer.ask('upstreams.list', {}, caller)).rejects.toMatchObject({ code: 'E3213' });
    await expect(layer.ask('tokens.mint', {}, caller)).rejects.toMatchObject({ code: 'E3213' });
    const foreign = await layer.mintToken({ tenant_id: 'another' });
    const elsewhere = { door: 'rest' as const, token: foreign.capability_token };
    expect((await layer.ask('tools.list', {}, elsewhere)).tools).toEqual([]);
    await expect(layer.ask('invocations.get', { invocation_id: 'to-cancel' }, elsewhere)).rejects.toMatchObject({
      code: 'E3809',
    });
  });

  test('an operator signs no token for another tenant, and is told so instead of getting one for its own', async () => {
    const { layer } = open;
    const operator = {
      door: 'rest' as const,
      token: (await layer.mintToken({ roles: ['operator'] })).capability_token,
    };
    await expect(layer.ask('tokens.mint', { tenant_id: 'another' }, operator)).rejects.toMatchObject({ code: 'E3213' });
    const own = await layer.ask('tokens.mint', { tenant_id: 'default' }, operator);
    expect(own.claims.tenant_id).toBe('default');
  });
});

describe('a layer that stops', () => {
  test('OPS-03.2 OPS-03.3 finishes what runs, and is not ready meanwhile', async () => {
    const stopping = await openLayer();
    const { layer, token } = stopping;
    const { promise: released, resolve: release } = Promise.withResolvers<{ value: number }>();
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    await layer.registerFunction({ ...DOUBLE, tool_id: 'slow' }, () => {
      start();
      return released;
    });
    expect(await layer.ask('health', {}, LOCAL_CALLER)).toMatchObject({ status: 'ready', ready: true });
    const running = layer.invoke({ tool_id: 'slow', parameters: { n: 1 }, capability_token: token });
    await started;
    const closing = stopping[Symbol.asyncDispose]();
    await vi.waitFor(async () => {
      expect(await layer.ask('health', {}, LOCAL_CALLER)).toMatchObject({ status: 'draining', ready: false });
    }, 50_000);
    release({ value: 1 });
    expect(await running).toMatchObject({ status: 'success' });
    await closing;
  });
});
