import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manifestOf } from '../tool-layer.fixture.ts';
import { type CliBench, createCliBench } from './run-cli.fixture.ts';

let bench: CliBench;

beforeEach(async () => {
  bench = await createCliBench();
  bench.layer.addTool(manifestOf('add', { description: 'Adds two numbers. '.repeat(10) }), ({ a, b }) => ({
    sum: Number(a) + Number(b),
  }));
  bench.layer.answers.set('tokens.mint', (input) => ({
    capability_token: 'agent',
    claims: { tool_id: input['tool_id'] ?? '*', agent_did: 'did:a', exp: 0 },
  }));
});

afterEach(async () => {
  expect(bench.open()).toBe(0);
  await bench.remove();
});

const inputOf = (operation: string) => bench.layer.asked.find((asked) => asked.operation === operation)?.input;

describe('invoke', () => {
  it('PRM-09 says phase and claimed source as they were given, and refuses a phase that there is not', async () => {
    await bench.run(['invoke', 'add', '--phase', 'planner', '--claim-source', 'a web page']);
    expect(inputOf('tools.invoke')).toMatchObject({
      execution_options: { phase: 'planner', claim_source: 'a web page' },
    });
    const odd = await bench.run(['invoke', 'add', '--phase', 'night']);
    expect(odd).toMatchObject({ code: 2, err: expect.stringContaining('planner, executor') });
  });

  it('EXE-10 says the variables and the trust of the call, and refuses what is no pair and no level', async () => {
    await bench.run(['invoke', 'add', '--env', 'PROJECT=demo=1', '--env', 'REGION=', '--trust', 'provisional']);
    expect(inputOf('tools.invoke')).toMatchObject({
      execution_options: { environment: { PROJECT: 'demo=1', REGION: '' }, trust_level: 'provisional' },
    });
    expect(await bench.run(['invoke', 'add', '--env', 'PROJECT'])).toMatchObject({ code: 2 });
    const odd = await bench.run(['invoke', 'add', '--trust', 'root']);
    expect(odd).toMatchObject({ code: 2, err: expect.stringContaining('untrusted, provisional, trusted') });
  });

  it('API-05 takes arguments as name=value, read by the schema of the tool', async () => {
    const properties = {
      ...{ text: { type: 'string' }, n: { type: 'integer' }, any: {} },
      ...{ list: { type: ['string', 'array'] }, maybe: { type: ['null', 'number'] } },
    };
    bench.layer.addTool(manifestOf('shop', { parameters_schema: { type: 'object', properties } }), () => 'done');
    const words = ['text=12', 'n=12', 'any=a=b', 'list=["x"]', 'maybe=null', 'other=', 'constructor="x"'];
    expect(await bench.run(['invoke', 'shop', ...words, 'id=9007199254740993'])).toMatchObject({ code: 0 });
    const parameters = { text: '12', n: 12, any: 'a=b', list: ['x'], maybe: null, other: '', constructor: '"x"' };
    // A number that would lose digits stays the text that it is.
    expect(inputOf('tools.invoke')).toMatchObject({ parameters: { ...parameters, id: '9007199254740993' } });
    for (const [odd, said] of [
      [['n=1', 'n=2'], 'twice'],
      [['n'], 'name=value'],
      [['=1'], 'name=value'],
      [['n=1', '{}'], 'name=value'],
    ] as const) {
      expect(await bench.run(['invoke', 'shop', ...odd])).toMatchObject({
        code: 2,
        err: expect.stringContaining(said),
      });
    }
  });

  it('PIPE-15 --dry-run says what would happen and why, and asks for no call', async () => {
    const stages = [
      { stage: 'admit', outcome: 'passed' },
      { stage: 'reuse', outcome: 'not_taken', takes: 'the key' },
    ];
    const policy_decision = { engine: 'e', version: '1', allowed: true, policies: ['a', 'b'] };
    bench.layer.answers.set('tools.dry-run', () => ({ would: 'run', tool_id: 'add', stages, policy_decision }));
    const run = await bench.run(['invoke', 'add', '{}', '--dry-run']);
    expect(run).toMatchObject({ code: 0, err: '' });
    expect(run.out.split('\n')).toEqual([
      'The call would run.',
      'STAGE  OUTCOME    NOTE',
      'admit  passed',
      'reuse  not taken  the key',
      'policies: a, b',
      '',
    ]);
    expect(inputOf('tools.invoke')).toBeUndefined();
    const error = {
      code: 'policy_blocked',
      e_code: 'E3210',
      category: 'PolicyBlocked',
      message: 'No.',
      retryable: false,
    };
    bench.layer.answers.set('tools.dry-run', () => ({ would: 'refuse', tool_id: 'add', stages, error }));
    const refused = await bench.run(['invoke', 'add', '{}', '--dry-run']);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('E3210') });
    expect(refused.out).toContain('be refused');
    expect(JSON.parse((await bench.run(['invoke', 'add', '--dry-run', '--json'])).out)).toMatchObject({
      would: 'refuse',
    });
  });

  it('API-05 makes a token for the tool, calls it and prints the result', async () => {
    const permissions = {
      filesystem: [
        { path: '/data', mode: 'ro' as const },
        { path: '/out', mode: 'rw' as const },
      ],
      network: [{ host: 'api.example', port: 443 }],
      credentials: ['KEY'],
    };
    bench.layer.addTool(manifestOf('greet', { permissions }), ({ name }) => `Hello, ${name}`);
    expect(await bench.run(['invoke', 'greet', '{"name":"Ada"}', '--timeout', '1m'])).toEqual({
      code: 0,
      out: 'Hello, Ada\n',
      err: '',
    });
    expect(inputOf('tokens.mint')).toEqual({
      tool_id: 'greet',
      expires_in_seconds: 120,
      paths: ['/data', '/out'],
      mode: 'rw',
      hosts: ['api.example'],
      ports: [443],
      secrets: ['KEY'],
    });
    expect(inputOf('tools.invoke')).toMatchObject({ tool_id: 'greet', resource_limits: { timeout_seconds: 60 } });
  });

  it('takes the arguments from a file or from standard input', async () => {
    await bench.file('args.json', '{"a":1,"b":2}');
    expect((await bench.run(['invoke', 'add', '@args.json'])).out).toBe('{\n  "sum": 3\n}\n');
    expect((await bench.run(['invoke', 'add', '-'], { stdin: '{"a":4,"b":5}' })).out).toContain('9');
    expect((await bench.run(['invoke', 'add'])).code).toBe(0);
  });

  it('passes token, version and idempotency key on', async () => {
    await bench.run(['invoke', 'add', '--token', 'operator', '--version', '^1', '--idempotency-key', 'k']);
    expect(inputOf('tokens.mint')).toBeUndefined();
    expect(bench.layer.asked.at(-1)).toMatchObject({
      input: { tool_version: '^1', execution_options: { idempotency_key: 'k' } },
      caller: { token: 'operator', door: 'cli' },
    });
    await bench.run(['invoke', 'add'], { env: { SALLYPORT_TOKEN: 'operator' } });
    expect(bench.layer.asked.at(-1)?.caller.token).toBe('operator');
  });

  it('PIPE-04 a refused call ends with 1 and names code, message and each fault', async () => {
    bench.layer.addTool(manifestOf('strict'), () => {
      const faults = [{ path: '/b', code: 'E3506', keyword: 'required', message: 'is missing', hint: 'add it' }];
      throw new ToolLayerError('E3509', 'One argument has a fault.', { details: { faults }, retryAfterMs: 1_500 });
    });
    const run = await bench.run(['invoke', 'strict']);
    expect(run).toMatchObject({ code: 1, out: '' });
    expect(run.err.split('\n')).toEqual([
      'E3509 invalid_parameters: One argument has a fault.',
      '  /b: is missing (add it)',
      '  It may work again in 2 s.',
      '',
    ]);
    const json = await bench.run(['invoke', 'strict', '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({ status: 'error', error: { e_code: 'E3509' } });
  });

  it('prints what an MCP tool says as text', async () => {
    bench.layer.addTool(manifestOf('mcp__say'), () => ({ content: [{ type: 'text', text: 'one' }] }));
    expect((await bench.run(['invoke', 'mcp__say'])).out).toBe('one\n');
  });

  it('an unknown tool ends with 1', async () => {
    expect(await bench.run(['invoke', 'nope'])).toMatchObject({ code: 1, err: expect.stringContaining('E3001') });
  });

  it.each([
    ['a terminal', { terminal: { columns: 80 } }],
    ['a pipe', {}],
  ])('API-05 what a terminal would obey is shown in what goes to %s', async (_to, options) => {
    bench.layer.addTool(manifestOf('evil'), () => 'a\u001b[2Jb\u0007');
    expect((await bench.run(['invoke', 'evil'], options)).out).toBe('a\\u{001b}[2Jb\\u{0007}\n');
    const evil = { ...manifestOf('table'), description: 'x\u001b]0;y\u009b2J' };
    bench.layer.addTool(evil, () => 'done');
    const { out } = await bench.run(['tools', 'list'], { ...options, env: { NO_COLOR: '1' } });
    expect(out).toContain('x\\u{001b}]0;y\\u{009b}2J');
    expect(out).not.toMatch(/[^\P{Cc}\n\t]/u);
    const wrong = await bench.run(['tools', 'li\u001b[2Jst'], options);
    expect(wrong.err).not.toContain('\u001b[2J');
  });

  it('API-05 with --json every control character is an escape of JSON, so that nothing is lost', async () => {
    const said = 'a\u001b[2J\u007f\u009b2J\u0085';
    bench.layer.addTool(manifestOf('evil'), () => said);
    for (const options of [{}, { terminal: { columns: 80 } }]) {
      const { out } = await bench.run(['invoke', 'evil', '--json'], options);
      expect(out).not.toMatch(/[^\P{Cc}\n]/u);
      expect(JSON.parse(out)).toMatchObject({ result: said });
    }
    const { err } = await bench.run(['invoke', 'no\u009b2J', '--json']);
    expect(err).not.toMatch(/[^\P{Cc}\n]/u);
    expect(JSON.parse(err)).toHaveProperty('error');
  });
});

describe('wrong use ends with 2 and says what to write', () => {
  it.each([
    [['invoke', 'add', '{"a":}'], /The arguments.*position 5/],
    [['invoke', 'add', '[1]'], /must be a JSON object/],
    [['invoke', 'add', '{"a":9007199254740993}'], /The arguments: there is a whole number with more digits/],
    [['invoke', 'add', '{"a":1,"a":2}'], /member twice, at \/a/],
    [['invoke', 'add', '@absent.json'], /absent\.json does not exist/],
    [['invoke', 'add', '--timeout', 'soon'], /30s, 15m or 1h/],
    [['invoke'], /missing required argument 'tool'/],
    [['serve', '--port', '70000'], /0 to 65535/],
    [['token', 'mint', '--role', 'king'], /operator/],
    [['token', 'mint', '--port', 'x'], /0 to 65535/],
    [['upstreams', 'add', 'files'], /command after --/],
    [['upstreams', 'add', 'files', '--url', 'http://x', '--', 'npx'], /not both/],
    [['upstreams', 'add', 'files', '--env', 'NAME', '--', 'npx'], /NAME=VALUE/],
    [['upstreams', 'add', 'files', '--network', 'x', '--', 'npx'], /HOST:PORT/],
    [['tools', 'add', '.'], /is a folder/],
    [['audit', 'tail', '-n', '0'], /above zero/],
    [['invoice'], /Did you mean invoke/],
    [['tools', 'list', '--colour'], /unknown option/],
  ])('%j', async (argv, message) => {
    const run = await bench.run(argv);
    expect(run.code).toBe(2);
    expect(run.err).toMatch(message);
  });
});

describe('wrong use with --json', () => {
  it.each([
    [['invoke', 'add', '{"a":}'], /The arguments.*position 5/],
    [['invoke', 'add', '--timeout', 'soon'], /30s, 15m or 1h/],
    [['invoke'], /missing required argument 'tool'/],
    [['invoice'], /unknown command 'invoice'.*Did you mean invoke/s],
    [['tools', 'list', '--colour'], /unknown option '--colour'/],
    [['tools'], /Name a command|unknown option '--json'/],
    [[], /Name a command/],
  ])('%j is told as every other error', async (argv, message) => {
    for (const given of [
      [...argv, '--json'],
      ['--json', ...argv],
    ]) {
      const run = await bench.run(given);
      expect([run.code, run.out]).toEqual([2, '']);
      const { error } = JSON.parse(run.err) as { error: { message: string } };
      expect(error).toEqual({
        code: 'invalid_parameters',
        e_code: 'E3801',
        category: 'InvalidParameters',
        retryable: false,
        message: expect.stringMatching(message),
      });
      expect(error.message).not.toMatch(/^error:/);
    }
  });

  it('does not take what stands behind -- for its own', async () => {
    const run = await bench.run(['upstreams', 'add', '--bad', '--', 'npx', '--json']);
    expect(run).toMatchObject({ code: 2, err: expect.stringContaining('error: unknown option') });
  });

  it('prints help as text, to who asked for it', async () => {
    expect(await bench.run(['tools', '--help', '--json'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Usage:'),
      err: '',
    });
  });
});

describe('what does not work', () => {
  it('a layer that cannot be opened ends with 3', async () => {
    bench.openError = new ToolLayerError('E3900', 'The data folder is in use by process 7.');
    expect(await bench.run(['tools', 'list'])).toMatchObject({ code: 3, err: expect.stringContaining('in use') });
  });

  it('a layer that went away during the command ends with 3', async () => {
    bench.layer.answers.set('tools.list', () => {
      throw new ToolLayerError('E3310', 'No layer answers.', { details: { layer: 'unreachable' } });
    });
    expect((await bench.run(['tools', 'list'])).code).toBe(3);
  });

  it('with --json an error is JSON too', async () => {
    bench.openError = new ToolLayerError('E3900', 'No.');
    const { err } = await bench.run(['tools', 'list', '--json']);
    expect(JSON.parse(err)).toMatchObject({ error: { e_code: 'E3900', message: 'No.' } });
  });
});

describe('the program itself', () => {
  it('prints its version and its help, with the exit codes', async () => {
    expect(await bench.run(['--version'])).toEqual({ code: 0, out: '1.2.3\n', err: '' });
    const help = await bench.run(['--help']);
    expect(help.code).toBe(0);
    for (const word of ['serve', 'mcp', 'invoke', 'tools', 'upstreams', 'token', 'audit', 'doctor', 'Exit codes']) {
      expect(help.out).toContain(word);
    }
  });

  it('starts what it is told to, with the options', async () => {
    await bench.run(['serve', '--port', '0', '--host', '127.0.0.1', '--data-folder', 'here']);
    await bench.run(['--data-folder', 'there', 'serve']);
    await bench.run(['auth', 'dev', '--port', '7000']);
    await bench.run(['mcp'], { env: { SALLYPORT_TOKEN: 't' } });
    await bench.run(['mcp', '--tools', 'meta']);
    await bench.run(['mcp', '--server', 'notes']);
    expect(bench.started).toEqual([
      { what: 'serve', options: { port: 0, host: '127.0.0.1', dataFolder: 'here' } },
      { what: 'serve', options: { dataFolder: 'there' } },
      { what: 'serve', options: { port: 7000, authorizes: true } },
      { what: 'mcp', options: { token: 't' } },
      { what: 'mcp', options: { tools: 'meta' } },
      { what: 'mcp', options: { server: 'notes' } },
    ]);
  });

  it('a mode of tools that there is not is a wrong use', async () => {
    const run = await bench.run(['mcp', '--tools', 'some']);
    expect(run).toMatchObject({ code: 2, err: expect.stringContaining('all, meta, auto') });
    expect(bench.started).toEqual([]);
  });

  it('doctor ends with 1 when something failed', async () => {
    bench.findings = [
      { name: 'bubblewrap', state: 'absent', message: 'not installed', hint: 'apt install bubblewrap' },
    ];
    const run = await bench.run(['doctor']);
    expect(run).toMatchObject({ code: 0, err: expect.stringContaining('apt install bubblewrap') });
    expect(run.out).toBe('STATE   WHAT        FOUND\nabsent  bubblewrap  not installed\n');
    bench.findings.push({ name: 'database', state: 'failed', message: 'no' });
    expect((await bench.run(['doctor'])).code).toBe(1);
  });
});
