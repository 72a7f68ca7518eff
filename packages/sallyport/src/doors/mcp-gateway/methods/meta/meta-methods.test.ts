import type { Client } from '@modelcontextprotocol/client';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type McpServer, startMcpServer } from '../../../mcp-transports/http/mcp-http.fixture.ts';
import { manifestOf } from '../../../tool-layer.fixture.ts';

let server: McpServer;

beforeEach(async () => {
  server = await startMcpServer({ autoToolsMax: 3, changesTogetherMs: 1 });
  const { layer } = server;
  const sum = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
  const numbers = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } };
  layer.addTool(
    manifestOf('add', {
      description: 'Adds two numbers.\nNever subtracts.',
      parameters_schema: numbers,
      result_schema: sum,
      side_effect_policy: 'pure',
    }),
    ({ a, b }) => ({ sum: Number(a) + Number(b) }),
  );
  layer.addTool(manifestOf('pay', { requires_confirmation: true }), () => 'paid');
  layer.addTool(manifestOf('files__read', { executor: { kind: 'mcp' } }), () => ({
    content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    structuredContent: { bytes: 3 },
    _meta: { 'example.com/from': 'upstream' },
  }));
});

afterEach(() => server.close());

const META_NAMES = ['find_tools', 'describe_tool', 'call_tool'];

async function listed(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

/** The text blocks of a result. */
function textOf(result: Awaited<ReturnType<Client['callTool']>>): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

const inputs = (operation: string) =>
  server.layer.asked.filter((asked) => asked.operation === operation).map(({ input }) => input);

describe.each([
  { era: 'legacy', auto: false },
  { era: 'modern', auto: true },
])('the official client that sees the meta-tools, $era era', ({ auto }) => {
  const connect = () => server.client({ auto, tools: 'meta' });

  it('MOD-11.2 lists three tools, whatever is registered', async () => {
    const client = await connect();
    expect(await listed(client)).toEqual(META_NAMES);
    expect(client.getServerCapabilities()?.tools).toEqual({});
    expect(client.getInstructions()).toContain('find_tools');
    expect(inputs('tools.manifests')).toEqual([]);
  });

  it('MOD-11 find_tools gives what is needed to choose, one line each', async () => {
    const client = await connect();
    const result = await client.callTool({ name: 'find_tools', arguments: { query: 'numbers' } });
    expect(result.structuredContent).toEqual({
      tools: [
        { name: 'add', description: 'Adds two numbers.', side_effect: 'pure', needs_confirmation: false },
        { name: 'pay', description: 'Does pay.', side_effect: 'irreversible', needs_confirmation: true },
        {
          name: 'files__read',
          description: 'Does files__read.',
          side_effect: 'irreversible',
          needs_confirmation: false,
        },
      ],
      total: 3,
    });
    expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
  });

  it('MOD-11 describe_tool gives the whole description and the input schema', async () => {
    const client = await connect();
    const result = await client.callTool({ name: 'describe_tool', arguments: { name: 'add' } });
    expect(result.structuredContent).toMatchObject({
      name: 'add',
      version: '1.0.0',
      versions: ['1.0.0'],
      state: 'active',
      description: 'Adds two numbers.\nNever subtracts.',
      input_schema: { type: 'object', properties: { a: { type: 'number' } } },
      output_schema: { required: ['sum'] },
      side_effect: 'pure',
      needs_confirmation: false,
      warnings: [],
    });
  });

  it('MOD-11 call_tool invokes the inner tool, under its own name, with its version and its arguments', async () => {
    const client = await connect();
    const given = { name: 'add', arguments: { a: 1, b: 2 }, version: '^1.0.0' };
    const result = await client.callTool({ name: 'call_tool', arguments: given });
    expect(result).toMatchObject({ structuredContent: { sum: 3 }, _meta: { invocation_id: expect.any(String) } });
    expect(inputs('tools.invoke')).toEqual([{ tool_id: 'add', parameters: { a: 1, b: 2 }, tool_version: '^1.0.0' }]);
    expect(server.layer.asked.at(-1)?.caller).toMatchObject({ token: 'agent' });
  });

  it('MOD-11 the result of an MCP tool is passed on as it came', async () => {
    const client = await connect();
    const result = await client.callTool({ name: 'call_tool', arguments: { name: 'files__read' } });
    expect(result.content).toEqual([{ type: 'image', data: 'AAAA', mimeType: 'image/png' }]);
    expect(result).toMatchObject({ structuredContent: { bytes: 3 }, _meta: { 'example.com/from': 'upstream' } });
  });

  it("MOD-11 an inner tool's own error, and a refusal of its call, come back as results", async () => {
    const failing = { content: [{ type: 'text', text: 'disk full' }] };
    server.layer.addTool(manifestOf('files__write', { executor: { kind: 'mcp' } }), () => {
      throw new ToolLayerError('E3109', 'The tool reported an error.', { details: { result: failing } });
    });
    server.layer.addTool(manifestOf('forbidden'), () => {
      throw new ToolLayerError('E3210', 'A policy forbids the call.');
    });
    const client = await connect();
    const call = (name: string) => client.callTool({ name: 'call_tool', arguments: { name } });
    const failed = await call('files__write');
    expect([failed.isError, textOf(failed)]).toEqual([true, 'disk full']);
    const refused = await call('forbidden');
    expect(refused).toMatchObject({ isError: true, _meta: { error: { e_code: 'E3210' } } });
    expect(textOf(refused)).toContain('category: PolicyBlocked');
  });

  it('MOD-11 progress of the inner tool is told, and the end of the outer call is its end', async () => {
    const ended = Promise.withResolvers<void>();
    server.layer.addTool(manifestOf('slow'), async (_parameters, caller) => {
      caller.onProgress?.({ progress: 1, total: 2 });
      await new Promise<void>((resolve) => caller.signal?.addEventListener('abort', () => resolve()));
      ended.resolve();
      throw new ToolLayerError('E3805', 'The call was cancelled.');
    });
    const client = await connect();
    const cancel = new AbortController();
    const steps: unknown[] = [];
    const onprogress = (step: unknown): void => {
      steps.push(step);
      cancel.abort();
    };
    const slow = { name: 'call_tool', arguments: { name: 'slow' } };
    await expect(client.callTool(slow, { signal: cancel.signal, onprogress })).rejects.toThrow();
    await ended.promise;
    expect(steps).toEqual([{ progress: 1, total: 2 }]);
  });

  it.each(['call_tool', 'find_tools', 'nothing', '../add', 'x'.repeat(128)])(
    'MOD-11 call_tool does not find a tool named %s, and says so to the model',
    async (name) => {
      const client = await connect();
      for (const outer of ['call_tool', 'describe_tool']) {
        const result = await client.callTool({ name: outer, arguments: { name } });
        expect(result.isError).toBe(true);
        expect(textOf(result)).toMatch(/^\[tool_error\]\ncategory: (?:ToolNotFound|InvalidParameters)\n/);
      }
    },
  );

  it('MOD-11 a registered tool of such a name neither shadows the meta-tool nor is lost', async () => {
    for (const name of META_NAMES) server.layer.addTool(manifestOf(name), () => `inner ${name}`);
    const client = await connect();
    expect(await listed(client)).toEqual(META_NAMES);
    const outer = await client.callTool({ name: 'find_tools', arguments: { query: 'x' } });
    expect(outer.structuredContent).toHaveProperty('tools');
    for (const name of META_NAMES) {
      expect(textOf(await client.callTool({ name: 'call_tool', arguments: { name } }))).toBe(`inner ${name}`);
    }
    const all = await server.client({ auto });
    expect(textOf(await all.callTool({ name: 'call_tool', arguments: { name: 'add' } }))).toBe('inner call_tool');
  });

  it('MOD-11 arguments that do not fit are named to the model', async () => {
    const client = await connect();
    const wrong = { name: 'add', a: 1, arguments: '{"b":2}' };
    const result = await client.callTool({ name: 'call_tool', arguments: wrong });
    expect(result).toMatchObject({ isError: true, _meta: { error: { e_code: 'E3509' } } });
    expect(textOf(result)).toContain("/a: is not an argument of this tool (Put the tool's own arguments into");
    expect(textOf(result)).toContain('/arguments: must be an object');
    expect(inputs('tools.invoke')).toEqual([]);
  });

  it('a tool that the client knows is called by its own name too', async () => {
    const client = await connect();
    expect(textOf(await client.callTool({ name: 'pay' }))).toBe('paid');
  });

  it('MOD-11 auto shows the tools while they are few, the meta-tools beyond', async () => {
    const client = await server.client({ auto, tools: 'auto' });
    expect(await listed(client)).toEqual(['add', 'files__read', 'pay']);
    await expect(client.callTool({ name: 'find_tools', arguments: { query: 'x' } })).rejects.toThrow();
    server.layer.addTool(manifestOf('one-more'), () => 'more');
    server.layer.notifyToolsChanged();
    await expect.poll(() => listed(client)).toEqual(META_NAMES);
    const found = await client.callTool({ name: 'find_tools', arguments: { query: 'x', limit: 2 } });
    expect(found.structuredContent).toMatchObject({ total: 4 });
  });
});

describe('over the wire', () => {
  const call = (name: string, more: object, headers: Record<string, string> = {}) =>
    server.post(
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name,
          ...more,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
      {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
        'sallyport-tools': 'meta',
        ...headers,
      },
    );

  it('MOD-11 the header chooses as the query does, and a mode that there is not is refused', async () => {
    const found = await call('find_tools', { arguments: { query: 'x' } });
    expect(await found.json()).toMatchObject({ result: { resultType: 'complete', structuredContent: { total: 3 } } });
    const plain = await call('find_tools', { arguments: { query: 'x' } }, { 'sallyport-tools': 'all' });
    expect(await plain.json()).toMatchObject({ error: { code: -32602, data: { e_code: 'E3001' } } });
    const odd = await call('find_tools', { arguments: { query: 'x' } }, { 'sallyport-tools': 'some' });
    expect(odd.status).toBe(400);
    expect(await odd.json()).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('Sallyport-Tools') },
    });
  });

  it.each([[[]], ['x'], [7], [null]])('arguments that are %j are refused in the way of every tool', async (given) => {
    expect(await (await call('call_tool', { arguments: given })).json()).toMatchObject({ error: { code: -32602 } });
  });

  it('a token that is not good is asked for again with 401, whatever the meta-tool', async () => {
    const headers = { authorization: 'Bearer expired' };
    const answers = [
      await call('find_tools', { arguments: { query: 'x' } }, headers),
      await call('describe_tool', { arguments: { name: 'add' } }, headers),
      await call('call_tool', { arguments: { name: 'add' } }, headers),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  });
});
