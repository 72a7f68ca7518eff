import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { AnchorsToVerify } from '../../../api/schemas/audit.ts';
import { manifestOf } from '../tool-layer.fixture.ts';
import { type CliBench, createCliBench } from './run-cli.fixture.ts';

let bench: CliBench;

beforeEach(async () => {
  bench = await createCliBench();
});

afterEach(async () => {
  expect(bench.open()).toBe(0);
  await bench.remove();
});

const lastInput = () => bench.layer.asked.at(-1)?.input;

describe('tools', () => {
  it('API-05 list shows a table that fits the terminal, and everything as JSON', async () => {
    bench.layer.addTool(manifestOf('add', { description: 'Adds two numbers,\nquickly.', tags: ['maths'] }), () => 0);
    const plain = await bench.run(['tools', 'list', '--tag', 'maths', '--tag', 'x', '--query', 'add']);
    expect(plain.out).toBe(
      'TOOL  VERSION  STATE   EXECUTOR  TAGS   DESCRIPTION\nadd   1.0.0    active  native    maths  Adds two numbers, quickly.\n',
    );
    expect(lastInput()).toMatchObject({ tags: ['maths', 'x'], capability_query: 'add' });
    const narrow = await bench.run(['tools', 'list'], { terminal: { columns: 60 } });
    expect(narrow.out).toContain('\u001b[1mTOOL');
    expect(narrow.out).toContain('Adds two numbers, q…');
    const uncoloured = await bench.run(['tools', 'list'], { terminal: { columns: 60 }, env: { NO_COLOR: '1' } });
    expect(uncoloured.out).not.toContain('\u001b');
    expect(JSON.parse((await bench.run(['tools', 'list', '--json'])).out)).toMatchObject({
      tools: [{ tool_id: 'add' }],
    });
  });

  it('list asks for every page', async () => {
    for (let i = 0; i < 450; i += 1) bench.layer.addTool(manifestOf(`tool${i}`), () => 0);
    bench.layer.answers.set('tools.list', (input) => {
      const all = Array.from({ length: 450 }, (_, i) => ({ tool_id: `tool${i}`, tags: [] }));
      const { page, page_size } = input as { page: number; page_size: number };
      return { tools: all.slice((page - 1) * page_size, page * page_size), pagination: { total_count: 450 } };
    });
    expect(JSON.parse((await bench.run(['tools', 'list', '--json'])).out).tools).toHaveLength(450);
  });

  it('show prints the manifest', async () => {
    bench.layer.addTool(manifestOf('add'), () => 0);
    expect((await bench.run(['tools', 'show', 'add'])).out).toContain('tool_id: add');
    expect(JSON.parse((await bench.run(['tools', 'show', 'add', '--json'])).out).manifest.tool_id).toBe('add');
  });

  it('API-05 add registers JSON and YAML files, one manifest or a list', async () => {
    await bench.file('one.json', JSON.stringify(manifestOf('one')));
    await bench.file('more.yaml', stringify([manifestOf('two'), manifestOf('three')]));
    const run = await bench.run(['tools', 'add', 'one.json', 'more.yaml']);
    expect(run).toMatchObject({ code: 0, err: '' });
    expect([...bench.layer.tools.keys()]).toEqual(['one', 'two', 'three']);
    expect(run.out).toContain('created  two    1.0.0');
  });

  it('one refused manifest keeps the others not out, and ends with 1', async () => {
    await bench.file('both.json', JSON.stringify([manifestOf('bad'), manifestOf('good')]));
    bench.layer.answers.set('tools.register', ({ manifest }) => {
      const { tool_id } = manifest as { tool_id: string };
      const faults = [{ path: '/version', code: 'E3008', keyword: 'pattern', message: 'is no SemVer' }];
      if (tool_id === 'bad') throw new ToolLayerError('E3008', 'The manifest has a fault.', { details: { faults } });
      return { tool_id, version: '1.0.0', outcome: 'created', warnings: [] };
    });
    const run = await bench.run(['tools', 'add', 'both.json']);
    expect(run.code).toBe(1);
    expect(run.out).toContain('good');
    expect(run.err).toContain('both.json: The manifest has a fault.\n  /version: is no SemVer');
  });

  it.each([
    ['broken.json', '{"a":', /broken\.json: The file is not JSON/],
    ['broken.yaml', 'a: [', /broken\.yaml is not YAML/],
    ['list.yaml', '- {}\n- 7', /item 1 is none/],
    ['empty.json', '[]', /must hold a manifest/],
    [
      'bomb.yaml',
      `a: &a [x]\n${'bcdefghi'.replace(/./g, (c, i) => `${c}: &${c} [${`*${'abcdefgh'[i]},`.repeat(9)}]\n`)}`,
      /aliases/,
    ],
  ])('a file that holds no manifest is named: %s', async (name, text, message) => {
    await bench.file(name, text);
    expect(await bench.run(['tools', 'add', name])).toMatchObject({ code: 2, err: expect.stringMatching(message) });
  });

  it('remove passes the version on', async () => {
    const run = await bench.run(['tools', 'remove', 'add', '--version', '1.0.0']);
    expect(run.out).toBe('Removed add 1.0.0\n');
    expect(lastInput()).toEqual({ tool_id: 'add', version: '1.0.0' });
  });

  it('import openapi reads files and addresses itself', async () => {
    const registrations = [{ tool_id: 'w__get', version: '1.0.0', outcome: 'created', warnings: [] }];
    const skipped = [{ place: '#/paths/x', reason: 'no id' }];
    bench.layer.answers.set('tools.import-openapi', () => ({
      ...{ source: 's', registrations, skipped },
      ...{ missing: [], dry_run: false },
    }));
    await bench.file('api.yaml', 'openapi: 3.1.0');
    const run = await bench.run(['tools', 'import', 'openapi', 'api.yaml', '--name', 'w', '--base-url', 'http://b']);
    expect(run).toMatchObject({
      code: 0,
      out: expect.stringContaining('w__get'),
      err: expect.stringContaining('no id'),
    });
    expect(lastInput()).toEqual({ document: 'openapi: 3.1.0', source: 'api.yaml', name: 'w', base_url: 'http://b' });

    const server = createServer((request, response) => {
      response.writeHead(request.url === '/api' ? 200 : 404).end('openapi: 3.0.0');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await bench.run(['tools', 'import', 'openapi', `${address}/api`]);
    expect(lastInput()).toMatchObject({ document: 'openapi: 3.0.0', source: `${address}/api` });
    const absent = await bench.run(['tools', 'import', 'openapi', `${address}/none`]);
    expect(absent).toMatchObject({ code: 2, err: expect.stringContaining('HTTP 404') });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const gone = await bench.run(['tools', 'import', 'openapi', address]);
    expect(gone).toMatchObject({ code: 2, err: expect.stringContaining('cannot be reached') });
  });
});

describe('upstreams', () => {
  const upstream = { name: 'files', state: 'ready', transport: 'stdio', tool_count: 2, restart_count: 0 };

  it('API-05 add passes command, mounts, environment and folder on', async () => {
    bench.layer.answers.set('upstreams.add', () => ({ upstream, registrations: [] }));
    const options = ['--mount', 'data:rw', '--mount', '/etc/x', '--env', 'A=b=c', '--env', 'D=', '--cwd', '.'];
    const run = await bench.run([
      'upstreams',
      'add',
      'files',
      ...options,
      '--network',
      'h:443',
      '--',
      'npx',
      '-y',
      '--x',
    ]);
    expect(run).toMatchObject({ code: 0, out: 'files: ready, 2 tools\n' });
    expect(lastInput()).toEqual({
      upstream: {
        name: 'files',
        transport: {
          type: 'stdio',
          command: 'npx',
          args: ['-y', '--x'],
          cwd: bench.folder,
          env: { A: 'b=c', D: '' },
          mounts: [
            { path: join(bench.folder, 'data'), mode: 'rw' },
            { path: '/etc/x', mode: 'ro' },
          ],
          network: [{ host: 'h', port: 443 }],
        },
      },
    });
  });

  it('add takes an address instead', async () => {
    bench.layer.answers.set('upstreams.add', () => ({ upstream, registrations: [] }));
    await bench.run(['upstreams', 'add', 'far', '--url', 'https://far.example/mcp', '--header', 'X=1']);
    expect(lastInput()).toEqual({
      upstream: { name: 'far', transport: { type: 'http', url: 'https://far.example/mcp', headers: { X: '1' } } },
    });
  });

  it('list, import and remove', async () => {
    bench.layer.answers.set('upstreams.list', () => ({ upstreams: [upstream] }));
    expect((await bench.run(['upstreams', 'list'])).out).toContain('files  ready  stdio      2');
    const refused = [{ name: 'odd', reason: 'no command' }];
    const planned = [{ name: 'files', start: 'ready' }];
    bench.layer.answers.set('upstreams.import', ({ dry_run }) =>
      dry_run === true
        ? { planned, imported: [], kept: [], refused, notes: [] }
        : { planned, imported: [{ upstream, registrations: [] }], kept: [], refused: [], notes: [] },
    );
    await bench.file('desktop.json', '{"mcpServers":{}}');
    const imported = await bench.run(['upstreams', 'import', 'desktop.json']);
    expect(imported).toMatchObject({ code: 1, err: 'left out odd: no command\n' });
    expect(imported.out).toMatch(/^files: ready, 2 tools$/m);
    expect(imported.out).toContain('1 in, 0 kept and tried again, 1 left out\n');
    const asked = {
      configuration: '{"mcpServers":{}}',
      source: 'desktop.json',
      mounts: {},
      network: {},
      only: ['files'],
    };
    expect(lastInput()).toEqual(asked);
    bench.layer.answers.set('upstreams.remove', () => ({ name: 'files', removed_tools: ['a', 'b'] }));
    expect((await bench.run(['upstreams', 'remove', 'files'])).out).toBe('Removed files and 2 tools\n');
  });
});

describe('token', () => {
  it('API-05 mint prints the token alone on standard output', async () => {
    const claims = { tool_id: 'add', agent_did: 'did:a', exp: 0 };
    bench.layer.answers.set('tokens.mint', () => ({ capability_token: 'eyJ', claims }));
    const argv = ['token', 'mint', '--tool', 'add', '--agent', 'did:a', '--tenant', 't', '--path', 'x', '--mode', 'rw'];
    const more = [
      '--user',
      'did:u',
      '--session',
      'session-1',
      '--host',
      'h',
      '--host',
      'i',
      '--port',
      '443',
      '--secret',
      'S',
      '--role',
      'operator',
      '--expires',
      '15m',
    ];
    const run = await bench.run([...argv, ...more]);
    expect(run.out).toBe('eyJ\n');
    expect(run.err).toContain('1970-01-01');
    expect(lastInput()).toEqual({
      tool_id: 'add',
      agent_did: 'did:a',
      user_did: 'did:u',
      tenant_id: 't',
      session_id: 'session-1',
      paths: [join(bench.folder, 'x')],
      mode: 'rw',
      hosts: ['h', 'i'],
      ports: [443],
      secrets: ['S'],
      roles: ['operator'],
      expires_in_seconds: 900,
    });
    await bench.run(['token', 'mint', '--expires=-1h']);
    expect(lastInput()).toEqual({ expires_in_seconds: -3_600 });
  });
});

describe('audit', () => {
  const HEADS = { checked: 2, faults: [] };
  const event = (id: string) => ({
    id,
    type: 'ai.agent.tool.invoked',
    time: '2026-01-01T00:00:00Z',
    subject: id,
    data: { tool_id: 'add', state: 'COMPLETED' },
  });

  it('API-05 tail prints the newest events and follows until stopped', async () => {
    const stop = new AbortController();
    const pages = [[event('one')], [], [event('two')]];
    bench.layer.answers.set('audit.query', () => ({ events: pages.shift() ?? [], next: 7 }));
    const once = await bench.run(['audit', 'tail', '-n', '5', '--tool', 'add']);
    expect(once.out).toBe('2026-01-01T00:00:00Z  tool.invoked  add COMPLETED one\n');
    expect(lastInput()).toEqual({ tool_id: 'add', newest: true, limit: 5 });
    const onOut = (text: string) => text.includes('"two"') && stop.abort();
    const followed = await bench.run(['audit', 'tail', '-f', '--json'], { signal: stop.signal, onOut });
    expect(followed.code).toBe(0);
    expect(JSON.parse(followed.out)).toMatchObject({ id: 'two' });
    expect(lastInput()).toMatchObject({ after: 7 });
  });

  it('API-05 verify says how many events are whole, and ends with 1 when they are not', async () => {
    const chain = { chain_id: 'c', events: 3, checkpoints: 1, whole: true };
    const calls = { checked: 2, open: 1, gaps: 0, first_gaps: [] };
    bench.layer.answers.set('audit.verify', () => ({
      whole: true,
      events: 3,
      chains: [chain],
      calls,
      heads: HEADS,
      warnings: [],
    }));
    expect(await bench.run(['audit', 'verify'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('3 events, all whole'),
    });
    const broken = { ...chain, whole: false, first_broken: { seq: 2, reason: 'its hash is another' } };
    bench.layer.answers.set('audit.verify', () => ({
      whole: false,
      events: 3,
      chains: [broken],
      calls,
      heads: HEADS,
      warnings: [],
    }));
    const run = await bench.run(['audit', 'verify']);
    expect(run).toMatchObject({ code: 1, out: expect.stringContaining('event 2: its hash is another') });
  });

  it('AUD-07 verify names the calls that are not told of, and ends with 1', async () => {
    const first_gaps = [
      { tenant_id: 'acme', invocation_id: 'call-1', reason: 'the chain records it, and it has no row' },
    ];
    const calls = { checked: 2, open: 0, gaps: 1, first_gaps };
    bench.layer.answers.set('audit.verify', () => ({
      whole: false,
      events: 3,
      chains: [],
      calls,
      heads: HEADS,
      warnings: [],
    }));
    const run = await bench.run(['audit', 'verify']);
    expect(run.code).toBe(1);
    expect(run.out).toMatch(/acme +call-1 +the chain records it, and it has no row/);
    expect(run.out).toContain('Calls whose rows and events differ: 1; rows compared: 2');
  });

  it('AUD-07 verify names heads that the chains do not have any more, and what cannot be told from them', async () => {
    const calls = { checked: 0, open: 0, gaps: 0, first_gaps: [] };
    const answer = { whole: true, events: 3, chains: [], calls, heads: HEADS, warnings: [] };
    bench.layer.answers.set('audit.verify', () => answer);
    expect((await bench.run(['audit', 'verify'])).out).toContain(
      'Heads kept outside the tables: 2, and the chains have them',
    );
    const faults = [{ chain_id: 'c', seq: 3, reason: 'event 3 is gone' }];
    const heads = { checked: 2, faults };
    const warnings = ['Heads are kept since today.'];
    bench.layer.answers.set('audit.verify', () => ({ ...answer, whole: false, heads, warnings }));
    const run = await bench.run(['audit', 'verify']);
    expect(run.code).toBe(1);
    expect(run.out).toMatch(/c +3 +event 3 is gone/);
    expect(run.out).toContain('Heads are kept since today.');
  });

  it('AUD-07 heads of the chains are printed one a line, and compared with the chains later', async () => {
    const anchor = { chain_id: 'c', seq: 3, hash: 'h', time: '2026-01-01T00:00:00Z', key_id: 'k', signature: 's' };
    bench.layer.answers.set('audit.anchor', () => ({ anchors: [anchor, { ...anchor, chain_id: 'd' }] }));
    const printed = await bench.run(['audit', 'anchor']);
    expect(printed).toMatchObject({ code: 0 });
    expect(
      printed.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).chain_id),
    ).toEqual(['c', 'd']);

    const calls = { checked: 0, open: 0, gaps: 0, first_gaps: [] };
    bench.layer.answers.set('audit.verify', () => ({
      whole: true,
      events: 3,
      chains: [],
      calls,
      heads: HEADS,
      warnings: [],
    }));
    const faults = [{ chain_id: 'd', seq: 3, reason: 'event 3 is gone' }];
    const answerTo = (whole: boolean, found: typeof faults) => (input: unknown) => ({
      whole,
      checked: (input as AnchorsToVerify).anchors.length,
      faults: found,
    });
    bench.layer.answers.set('audit.verify-anchors', answerTo(false, faults));
    const options = { stdin: `${printed.out}\n` };
    const run = await bench.run(['audit', 'verify', '--anchors', '-'], options);
    expect(run).toMatchObject({ code: 1, out: expect.stringContaining('1 of 2 anchors hold') });
    expect(run.out).toMatch(/d +3 +event 3 is gone/);
    bench.layer.answers.set('audit.verify-anchors', answerTo(true, []));
    const json = await bench.run(['audit', 'verify', '--anchors', '-', '--json'], options);
    expect(json.code).toBe(0);
    expect(JSON.parse(json.out)).toMatchObject({ whole: true, anchors: { whole: true, checked: 2 } });
  });

  it.each([
    ['', 'Standard input holds no anchor'],
    ['{"chain_id":"c"}', 'Standard input, line 1 is no anchor'],
    ['\n[1]', 'Standard input, line 2 is no anchor'],
    ['{', 'Standard input, line 1 is no anchor'],
    ['{"chain_id":"c","hash":"h","time":"t","key_id":"k","signature":"s"}', 'Standard input, line 1 is no anchor'],
  ])('AUD-07 anchors that are none are refused before anything is asked: %j', async (stdin, sentence) => {
    const run = await bench.run(['audit', 'verify', '--anchors', '-'], { stdin });
    expect(run.code).not.toBe(0);
    expect(run.err).toContain(sentence);
  });
});
