import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createToolLayer, LOCAL_CALLER, serve } from '../../packages/sallyport/src/index.ts';
import { DOUBLE, double, type OpenLayer, openLayer, post } from './layer.fixture.ts';

let open: OpenLayer;
beforeAll(async () => {
  open = await openLayer();
  await open.layer.registerFunction(DOUBLE, double);
});
afterAll(() => open[Symbol.asyncDispose]());

const invoke = (parameters: string) => post(open, '/v1/invocations', `{"tool_id":"double","parameters":${parameters}}`);

/** After each bad input the layer still works. */
afterEach(async () => {
  expect((await invoke('{"n":21}')).body).toMatchObject({ status: 'success', result: { value: 42 } });
});

describe('bad input', () => {
  test('broken JSON is refused with its place', async () => {
    const { status, body } = await post(open, '/v1/invocations', '{"tool_id": "double", }');
    expect([status, body['e_code']]).toEqual([400, 'E3801']);
    expect(body['detail']).toMatch(/line 1|position|column|character/i);
  });

  test('wrong types and unknown fields are named, each with its path', async () => {
    const { status, body } = await post(open, '/v1/invocations', '{"tool_id":7,"parameters":[],"surprise":1}');
    expect([status, body['e_code']]).toEqual([400, 'E3801']);
    const { faults } = body['details'] as { faults: { path: string }[] };
    expect(faults.map(({ path }) => path).sort()).toEqual(['/parameters', '/surprise', '/tool_id']);
  });

  test('VAL-06.6 a member that is there twice is refused, wherever it is', async () => {
    for (const parameters of ['{"n":1,"n":2}', '1,"parameters":{"n":2}']) {
      const { status, body } = await invoke(parameters);
      expect([status, body['e_code'], body['detail']]).toEqual([
        400,
        'E3801',
        expect.stringMatching(/twice, at \/par/),
      ]);
    }
  });

  test('VAL-06.7 a whole number that would become another one is refused, over REST and MCP', async () => {
    const over = (n: string) => `{"tool_id":"double","parameters":{"n":${n}}}`;
    const { status, body } = await post(open, '/v1/invocations', over('9007199254740993'));
    expect([status, body['error']]).toMatchObject([
      400,
      { e_code: 'E3801', details: { faults: [{ path: '/n', message: expect.stringContaining('more digits') }] } },
    ]);
    expect((await post(open, '/v1/invocations', over('9007199254740992'))).body['status']).toBe('success');
    const settled = '{"outcome":"happened","note":"x","result":{"id":9007199254740993}}';
    const { capability_token } = await open.layer.mintToken({ roles: ['operator'] });
    const operator = { ...open, token: capability_token };
    expect((await post(operator, '/v1/outcomes/any/settlement', settled)).body).toMatchObject({
      e_code: 'E3801',
      details: { faults: [{ path: '/result/id' }] },
    });
    const dry = await post(open, '/v1/dry-runs', over('-9007199254740993'));
    expect(JSON.stringify(dry.body)).toContain('more digits');
    const prefix = 'io.modelcontextprotocol/';
    const meta = `{"${prefix}protocolVersion":"2026-07-28","${prefix}clientCapabilities":{}}`;
    const call = `"method":"tools/call","params":{"name":"double","arguments":{"n":9007199254740993},"_meta":${meta}}`;
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'double' };
    const answer = await post(open, '/mcp', `{"jsonrpc":"2.0","id":1,${call}}`, headers);
    expect(JSON.stringify(answer.body)).toContain('more digits');
  });

  test('VAL-04.7 a result that looks like an attack comes back as it is, with a warning; ordinary text has none', async () => {
    const texts = {
      attack: "x' OR 1=1 --",
      page: '# Tips\nUse `rm -rf build` and it\'s done; see "Select a plan".',
      large: `${'An ordinary sentence of a page. '.repeat(3000)}<img src=x onerror=alert(1)>`,
    };
    for (const [tool_id, text] of Object.entries(texts))
      await open.layer.registerFunction({ ...DOUBLE, tool_id }, () => ({ text }));
    const answers = Object.keys(texts).map((tool_id) =>
      post(open, '/v1/invocations', JSON.stringify({ tool_id, parameters: { n: 1 } })),
    );
    const [attack, page, large] = (await Promise.all(answers)).map(({ body }) => body);
    expect(attack).toMatchObject({
      status: 'success',
      result: { text: texts.attack },
      warnings: [
        { code: 'result_suspicious', details: { findings: { 0: { threat: 'sql_injection', path: '/text' } } } },
      ],
    });
    expect(page).toMatchObject({ status: 'success', result: { text: texts.page } });
    expect(page?.['warnings'] ?? []).toEqual([]);
    expect(large?.['warnings']).toMatchObject([{ code: 'result_suspicious' }]);
  });

  test('VAL-06.3 a body of 100 MB is refused without being read', async () => {
    const socket = connect(Number(new URL(open.server.url).port), '127.0.0.1');
    const answer = text(socket);
    socket.on('error', () => undefined);
    socket.write(
      `POST /v1/invocations HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nauthorization: Bearer ${open.token}\r\ncontent-length: 104857600\r\n\r\n{`,
    );
    expect(await answer.catch(String)).toMatch(/^HTTP\/1\.1 413 [\s\S]*E3810/);
  });

  test('VAL-06.5 10 000 levels of nesting are refused', async () => {
    const { status, body } = await invoke(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`);
    expect([status, body['e_code']]).toEqual([413, 'E3810']);
  });

  test('VAL-06.2 prototype keys change nothing', async () => {
    const { status, body } = await invoke('{"n":1,"__proto__":{"polluted":true}}');
    expect([status, body['e_code']]).toEqual([400, 'E3801']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('VAL-06.4 invalid UTF-8 is refused', async () => {
    const bytes = Buffer.concat([Buffer.from('{"tool_id":"dou'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
    const { status, body } = await post(open, '/v1/invocations', new Uint8Array(bytes));
    expect([status, body['e_code']]).toEqual([400, 'E3801']);
  });

  test('an unknown route says what there is', async () => {
    const { status, body } = await post(open, '/v1/invocation', '{}');
    expect(status).toBe(404);
    expect(body['detail']).toContain('/v1/invocations');
  });

  test('an OpenAPI file that cannot be read is refused with what to change', async () => {
    const read = (document: string) => open.layer.ask('tools.import-openapi', { document }, LOCAL_CALLER);
    for (const document of ['{"openapi": "3.1.0",', 'just text', '{"openapi":"9.9.9","info":{},"paths":{}}']) {
      await expect(read(document)).rejects.toMatchObject({ code: 'E3008' });
    }
  });

  test('REG-08.1 a manifest with faults is refused with all of them', async () => {
    const manifest = {
      ...DOUBLE,
      tool_id: '../x',
      version: 'one',
      parameters_schema: { type: 'nothing' },
      extra: true,
    };
    const refused = open.layer.ask('tools.register', { manifest }, LOCAL_CALLER);
    const faults = await refused.catch((error) =>
      error.failure.details.faults.map(({ path }: { path: string }) => path),
    );
    expect(faults).toEqual(expect.arrayContaining(['/tool_id', '/version', '/extra']));
  });
});

describe('values that look like an attack', () => {
  const ECHO = { ...DOUBLE, tool_id: 'echo', parameters_schema: { type: 'object', properties: { id: {} } } };
  const SQL = "' OR '1'='1' --";
  const MARKUP = '<script>alert(1)</script>';

  async function echoing(at: OpenLayer) {
    await at.layer.registerFunction(ECHO, ({ id }) => ({ id }));
    return async (id: string) => {
      const { body } = await post(at, '/v1/invocations', JSON.stringify({ tool_id: 'echo', parameters: { id } }));
      const { result, error } = body as { result?: { id: string }; error?: { e_code: string } };
      return error?.e_code ?? result?.id;
    };
  }

  test('VAL-04.1 VAL-04.2 VAL-04.3 are refused, each kind with a code of its own', async () => {
    const echo = await echoing(open);
    expect([await echo('a-1'), await echo(SQL), await echo(MARKUP), await echo('a; rm -rf /')]).toEqual([
      'a-1',
      'E3503',
      'E3504',
      'E3505',
    ]);
  });

  test('VAL-04.4 VAL-04.5 are redacted, escaped or refused as the operator says, and so are patterns of their own', async () => {
    await using own = await openLayer({
      'sanitise.sql_injection': 'redact',
      'sanitise.xss': 'escape',
      'sanitise.patterns': ['command_injection reject (?i)internal-[0-9]+'],
    });
    const echo = await echoing(own);
    expect([await echo(SQL), await echo(MARKUP), await echo('see Internal-42')]).toEqual([
      expect.stringContaining('[removed: sql_injection]'),
      '&lt;script&gt;alert(1)&lt;/script&gt;',
      'E3505',
    ]);
  });
});

describe('schemas and patterns of strangers', () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, level) => [
      `d${level}`,
      { allOf: Array.from({ length: 2 }, () => ({ $ref: `#/$defs/d${level + 1}` })) },
    ]),
  );
  const property = (schema: object) => ({ type: 'object', properties: { a: schema } });
  test.each<[string, object]>([
    ['a megabyte of (', property({ pattern: '('.repeat(1_000_000) })],
    ['a look-behind', property({ pattern: '(?<=a)b' })],
    ['a back reference', property({ pattern: '(a*)\\1b' })],
    ['a reference to elsewhere', property({ $ref: 'http://169.254.169.254/latest/meta-data' })],
    ['a reference that leads nowhere', property({ $ref: '#/$defs/missing' })],
    [
      'ten thousand alternatives',
      property({ oneOf: Array.from({ length: 10_000 }, (_, at) => ({ required: [`r${at}`] })) }),
    ],
  ])('VAL-05.2 VAL-05.4 %s is refused over REST with its place, at once', async (_what, parameters_schema) => {
    const { capability_token } = await open.layer.mintToken({ roles: ['operator'] });
    const manifest = { ...DOUBLE, tool_id: 'bomb', parameters_schema };
    const headers = { authorization: `Bearer ${capability_token}` };
    const { status, body } = await post(open, '/v1/tools', JSON.stringify({ manifest }), headers);
    expect([status, body['e_code']]).toEqual([400, 'E3008']);
    expect(JSON.stringify(body['details'])).toContain('/parameters_schema');
    expect(JSON.stringify(body).length).toBeLessThan(20_000);
  });

  test('VAL-05.1 a schema that doubles on each of forty levels judges within its budget', async () => {
    const parameters_schema = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/d0' } },
      $defs: { ...doubling, d40: {} },
    };
    const manifest = { ...DOUBLE, tool_id: 'bomb', parameters_schema };
    await open.layer.ask('tools.register', { manifest }, LOCAL_CALLER);
    const { body } = await post(open, '/v1/invocations', JSON.stringify({ tool_id: 'bomb', parameters: { a: 1 } }));
    expect((body['error'] as { e_code: string }).e_code).toBe('E3509');
  });
});

describe('upstreams that misbehave', () => {
  let beside: string;
  beforeAll(async () => {
    beside = await mkdtemp(join(tmpdir(), 'bad-input-'));
  });
  afterAll(() => rm(beside, { recursive: true }));
  const script = async (name: string, body: string): Promise<string> => {
    // Next to the data folder, not in it: no upstream may see the data folder.
    const path = join(beside, name);
    await writeFile(path, body);
    return path;
  };
  const add = (name: string, file: string) =>
    open.layer.ask(
      'upstreams.add',
      { upstream: { name, request_timeout_ms: 1500, transport: { type: 'stdio', command: 'node', args: [file] } } },
      LOCAL_CALLER,
    );

  test('one that never answers costs only itself', async () => {
    const file = await script('silent.mjs', 'setInterval(() => undefined, 1000);');
    await expect(add('silent', file)).rejects.toMatchObject({ code: 'E3306' });
  }, 60_000);

  test('one that prints rubbish and ends is refused with its last words', async () => {
    const file = await script(
      'rubbish.mjs',
      'console.log("\\u0000 not json"); console.error("no key"); process.exit(3);',
    );
    const failed = await add('rubbish', file).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'E3108' });
    expect((failed as Error).message).toContain('no key');
    expect((await open.layer.ask('upstreams.list', {}, LOCAL_CALLER)).upstreams).toEqual([]);
  }, 60_000);

  test('EXE-07 one whose program lacks a module is refused with the name of the module, however long its stack is', async () => {
    const file = await script('lacking.mjs', 'await import("./no-such-part.mjs");');
    const failed = await add('lacking', file).catch((error: unknown) => error);
    expect((failed as Error).message).toMatch(
      /exited with code 1\. Its last words: [\s\S]*Cannot find module '\S*no-such-part\.mjs'/,
    );
  }, 60_000);

  test('EXE-12.4 an error of one whose tool has an output schema comes as it is, and is not judged by the schema', async () => {
    const content = [{ type: 'text', text: 'The disk is full.' }];
    const outputSchema = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] };
    const tool = { name: 'save', inputSchema: { type: 'object' }, outputSchema };
    const file = await script(
      'full.mjs',
      `import { createInterface } from 'node:readline';
      for await (const line of createInterface({ input: process.stdin })) {
        const { id, method, params } = JSON.parse(line);
        const result = {
          initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
          'tools/list': { tools: [${JSON.stringify(tool)}] },
          'tools/call': { content: ${JSON.stringify(content)}, isError: true },
        }[method];
        const answer = result === undefined ? { error: { code: -32601, message: 'no' } } : { result };
        if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
      }`,
    );
    await add('full', file);
    const { body } = await post(open, '/v1/invocations', JSON.stringify({ tool_id: 'full__save', parameters: {} }));
    expect(body['error']).toMatchObject({ e_code: 'E3109', details: { result: { content } } });
    await open.layer.ask('upstreams.remove', { name: 'full' }, LOCAL_CALLER);
  }, 60_000);
});

describe('a layer that cannot start', () => {
  test('for a port in use says which and what to do', async () => {
    const port = Number(new URL(open.server.url).port);
    await expect(serve(open.layer, { port })).rejects.toThrow(/another program uses this port.*--port/);
  });

  test('for a data folder in use or unusable says so, and names the folder', async () => {
    const start = (data_folder: string) =>
      createToolLayer({ settings: { data_folder, 'log.level': 'silent' }, environment: {} });
    await expect(start(open.folder)).rejects.toThrow(/in use/);
    await expect(start('/proc/nowhere')).rejects.toThrow('/proc/nowhere');
  });
});
