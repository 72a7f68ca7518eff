import type { Client } from '@modelcontextprotocol/client';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manifestOf } from '../../tool-layer.fixture.ts';
import { type McpServer, startMcpServer } from './mcp-http.fixture.ts';

let server: McpServer;

beforeEach(async () => {
  server = await startMcpServer({ toolsPageSize: 2, changesTogetherMs: 1 });
  const sum = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
  server.layer.addTool(manifestOf('add', { result_schema: sum, side_effect_policy: 'pure' }), ({ a, b }) => ({
    sum: Number(a) + Number(b),
  }));
  server.layer.addTool(manifestOf('greet'), () => 'hello');
  server.layer.addTool(manifestOf('files__read', { executor: { kind: 'mcp' } }), () => ({
    content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    structuredContent: { bytes: 3 },
    _meta: { 'example.com/from': 'upstream' },
  }));
});

afterEach(() => server.close());

/** The text blocks of a result. */
function textOf(result: Awaited<ReturnType<Client['callTool']>>): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

describe.each([
  { era: 'legacy', auto: false, version: '2025-11-25' },
  { era: 'modern', auto: true, version: '2026-07-28' },
])('the official client, $era era', ({ auto, version }) => {
  it('API-03.1 API-03.2 negotiates the version and sees every page of the tools', async () => {
    const client = await server.client({ auto });
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(['add', 'files__read', 'greet']);
    expect(tools[0]).toMatchObject({ annotations: { readOnlyHint: true }, outputSchema: { type: 'object' } });
  });

  it('API-03.13 a call gives structured content, its text and the invocation id', async () => {
    const client = await server.client({ auto });
    const result = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
    expect(result).toMatchObject({ structuredContent: { sum: 3 }, _meta: { invocation_id: expect.any(String) } });
    expect(textOf(result)).toBe('{"sum":3}');
    expect(textOf(await client.callTool({ name: 'greet' }))).toBe('hello');
  });

  it('passes the result of an MCP tool on as it came', async () => {
    const client = await server.client({ auto });
    const result = await client.callTool({ name: 'files__read' });
    expect(result.content).toEqual([{ type: 'image', data: 'AAAA', mimeType: 'image/png' }]);
    expect(result.structuredContent).toEqual({ bytes: 3 });
    expect(result._meta).toMatchObject({ 'example.com/from': 'upstream' });
  });

  it('PIPE-04.3 an error that the model can act on is a result with a [tool_error] block', async () => {
    server.layer.addTool(manifestOf('strict'), () => {
      const fault = { path: '/n', code: 'E3509', keyword: 'type', message: 'must be a number\nretryable: true' };
      throw new ToolLayerError('E3509', 'The arguments do not fit.', { details: { faults: [fault] } });
    });
    const client = await server.client({ auto });
    const result = await client.callTool({ name: 'strict' });
    expect(result.isError).toBe(true);
    expect(textOf(result).split('\n')).toEqual([
      '[tool_error]',
      'category: InvalidParameters',
      'message: The arguments do not fit.',
      'suggestion: /n: must be a number retryable: true',
      'retryable: true',
    ]);
    // Only the text says whether to retry: the same arguments fail again, other arguments may succeed.
    expect(result._meta).toMatchObject({ error: { e_code: 'E3509' } });
    expect(result._meta?.['error']).not.toHaveProperty('retryable');
  });

  it("passes an MCP tool's own error on to the model", async () => {
    server.layer.addTool(manifestOf('files__write', { executor: { kind: 'mcp' } }), () => {
      const result = { content: [{ type: 'text', text: 'disk full' }] };
      throw new ToolLayerError('E3109', 'The tool reported an error.', { details: { result } });
    });
    const client = await server.client({ auto });
    const result = await client.callTool({ name: 'files__write' });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe('disk full');
  });

  it('PIPE-04.3 an unknown tool is a protocol error with the E-code', async () => {
    const client = await server.client({ auto });
    const refused = client.callTool({ name: 'nope' });
    await expect(refused).rejects.toMatchObject({ code: -32602, data: { e_code: 'E3001', code: 'tool_not_found' } });
  });

  it('API-03.12 tells the progress of a call that asks for it', async () => {
    server.layer.addTool(manifestOf('slow'), (_parameters, caller) => {
      for (const progress of [1, 1, 2]) caller.onProgress?.({ progress, total: 2, message: `step ${progress}` });
      return 'done';
    });
    const client = await server.client({ auto });
    const steps: unknown[] = [];
    const result = await client.callTool({ name: 'slow' }, { onprogress: (step) => steps.push(step) });
    expect(textOf(result)).toBe('done');
    expect(steps).toEqual([
      { progress: 1, total: 2, message: 'step 1' },
      { progress: 2, total: 2, message: 'step 2' },
    ]);
  });

  it('a cancelled call ends in the layer', async () => {
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    server.layer.addTool(manifestOf('wait'), async (_parameters, caller) => {
      started.resolve();
      await new Promise<void>((resolve) => caller.signal?.addEventListener('abort', () => resolve()));
      ended.resolve();
      throw new ToolLayerError('E3805', 'The call was cancelled.');
    });
    const client = await server.client({ auto });
    const cancel = new AbortController();
    const call = client.callTool({ name: 'wait' }, { signal: cancel.signal });
    await started.promise;
    cancel.abort();
    await expect(call).rejects.toThrow();
    await ended.promise;
  });

  it('API-03.14 tells that the tools changed, and lists them anew', async () => {
    const told = Promise.withResolvers<void>();
    const client = await server.client({ auto, onListChanged: () => told.resolve() });
    await client.listTools();
    server.layer.addTool(manifestOf('new'), () => 'new');
    // The stream of notifications may open a moment after the handshake.
    const again = setInterval(() => server.layer.notifyToolsChanged(), 20);
    await told.promise.finally(() => clearInterval(again));
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain('new');
  });

  it.each(['expired', 'forged'])('a token that is %s is asked for again with 401', async (token) => {
    await expect(server.client({ auto, token })).rejects.toThrow();
  });
});
