import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import Schema from 'typebox/schema';
import { afterAll, expect, test } from 'vitest';
import { UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import { readDesktopConfiguration } from '../desktop-configuration.ts';

const folder = mkdtempSync(join(tmpdir(), 'desktop-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const VARIABLE = '$' + '{workspaceFolder}';
const servers = (entries: Record<string, unknown>) => readDesktopConfiguration(JSON.stringify({ mcpServers: entries }));
const reasonOf = (entry: unknown) => servers({ one: entry }).refused[0]?.reason;
function faultOf(run: () => unknown): ToolLayerError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof ToolLayerError) return thrown;
  }
  throw new Error('it did not throw a ToolLayerError');
}

test('REG-14.1 the file of a desktop client becomes definitions, and its folders become read-only mounts', () => {
  const text = `\uFEFF{
    // servers
    "mcpServers": {
      "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "${folder}", "/no/such"], },
      "remote": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer \${env:API_TOKEN}" } }, /* last */
    },
  }`;
  const { upstreams, refused, notes } = readDesktopConfiguration(text);
  expect(refused).toEqual([]);
  expect(upstreams).toEqual([
    {
      name: 'files',
      transport: {
        type: 'stdio',
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem', folder, '/no/such'],
        mounts: [{ path: folder, mode: 'ro' }],
      },
    },
    {
      name: 'remote',
      transport: { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer {{API_TOKEN}}' } },
    },
  ]);
  expect(notes).toEqual([
    'files: /no/such does not exist here, so it is not visible to the server.',
    "remote: The variable API_TOKEN in its headers is taken from the layer's secret API_TOKEN.",
  ]);
  const check = Schema.Compile(UpstreamDefinition);
  for (const upstream of upstreams) expect(check.Check(upstream)).toBe(true);
});

test('REG-14.1 the shapes of other clients are read: VS Code, its settings file, Windsurf, and the inner part alone', () => {
  const entry = { type: 'stdio', command: 'node', env: { N: 1 }, cwd: folder, disabled: true };
  const stdio = {
    name: 'a',
    transport: { type: 'stdio', command: 'node', cwd: folder, env: { N: '1' } },
    disabled: true,
  };
  for (const file of [{ servers: { a: entry } }, { mcp: { servers: { a: entry } } }, { a: entry }]) {
    expect(readDesktopConfiguration(JSON.stringify(file)).upstreams).toEqual([stdio]);
  }
  const zed = {
    context_servers: { z: { source: 'custom', command: { path: 'npx', args: ['-y', 'p'], env: { A: 'b' } } } },
  };
  const fromZed = readDesktopConfiguration(JSON.stringify(zed));
  const started = { type: 'stdio', command: 'npx', args: ['-y', 'p'] };
  expect(fromZed).toEqual({
    upstreams: [{ name: 'z', transport: { ...started, env: { A: 'b' } } }],
    refused: [],
    notes: [],
  });
  expect(servers({ w: { command: 'cmd', args: ['/c', 'npx', '-y', 'p'] } }).upstreams[0]?.transport).toEqual(started);
  expect(servers({ s: { type: 'sse', url: 'http://127.0.0.1:1/sse' } }).upstreams).toEqual([
    { name: 's', transport: { type: 'sse', url: 'http://127.0.0.1:1/sse' } },
  ]);
  const http = { name: 'w', transport: { type: 'http', url: 'http://127.0.0.1:1/mcp' } };
  for (const w of [
    { serverUrl: 'http://127.0.0.1:1/mcp' },
    { type: 'streamable-http', url: 'http://127.0.0.1:1/mcp' },
    { type: 'http', url: 'http://127.0.0.1:1/mcp' },
  ]) {
    expect(servers({ w }).upstreams).toEqual([http]);
  }
});

test('an entry that cannot be taken over is refused with its reason and the others are kept', () => {
  const { upstreams, refused } = servers({
    old: { type: 'ws', url: 'wss://example.com/mcp' },
    good: { command: 'x' },
  });
  expect(upstreams.map(({ name }) => name)).toEqual(['good']);
  expect(refused).toEqual([{ name: 'old', reason: expect.stringContaining('WebSocket') }]);
  expect(reasonOf(null)).toBe('The entry is no object.');
  expect(reasonOf({})).toBe('It has neither a command nor a url.');
  expect(reasonOf({ command: ' ' })).toBe('Its command is empty.');
  expect(reasonOf({ command: 'x', args: 'y' })).toBe('Its args are no list.');
  expect(reasonOf({ command: 'x', args: ['a', {}] })).toBe('Its args[1] is no text.');
  expect(reasonOf({ command: 'x', env: { A: [] } })).toBe('Its env.A is no text.');
  expect(reasonOf({ command: 'x', cwd: 'relative' })).toContain('no absolute path');
  expect(reasonOf({ url: 'file:///etc/passwd' })).toBe('Its url is no http or https address.');
  expect(reasonOf({ url: 'not a url' })).toBe('Its url is no http or https address.');
});

test('names take our form, never collide, and every change is noted', () => {
  const { upstreams, notes } = servers({
    'My Server!': { command: 'x' },
    my_server: { command: 'x' },
    'My-Server': { command: 'x' },
    Ünïcode: { command: 'x' },
    日本: { command: 'x' },
    ['n'.repeat(50)]: { command: 'x' },
    ['n'.repeat(51)]: { command: 'x' },
  });
  const names = upstreams.map(({ name }) => name);
  expect(names).toEqual([
    'My-Server',
    'my-server',
    'My-Server-2',
    'U-ni-code',
    'server',
    'n'.repeat(40),
    `${'n'.repeat(38)}-2`,
  ]);
  expect(notes).toHaveLength(7);
});

test('variables in a command stay as they are and are noted, and the whole disk is never mounted', () => {
  const { upstreams, notes } = servers({
    a: { command: 'node', args: [`${VARIABLE}/x.js`, '/'], autoApprove: [] },
  });
  expect(upstreams[0]?.transport).toEqual({ type: 'stdio', command: 'node', args: [`${VARIABLE}/x.js`, '/'] });
  expect(notes).toEqual([
    'a: The whole disk (/) is not made visible; say --mount NAME=PATH for what it needs.',
    `a: ${VARIABLE} is not replaced here; write its value in its place.`,
    'a: Not taken over: autoApprove.',
  ]);
});

test('text that is broken is refused with line and column, and text that is something else says what is expected', () => {
  const broken = faultOf(() =>
    readDesktopConfiguration('{\n  // note, with "quotes"\n  "mcpServers": { "a" 1 }\n}', 'cursor.json'),
  );
  expect(broken.code).toBe('E3801');
  expect(broken.message).toContain('cursor.json is not valid JSON at line 3, column 23');
  expect(broken.failure.details).toEqual({ line: 3, column: 23 });
  expect(faultOf(() => readDesktopConfiguration('{"mcpServers": {')).message).toContain('line 1, column 17');
  expect(faultOf(() => readDesktopConfiguration('[]')).message).toContain('it holds no object');
  expect(faultOf(() => readDesktopConfiguration('{"theme": "dark"}')).message).toContain('no member mcpServers');
  expect(faultOf(() => readDesktopConfiguration('{"mcpServers": []}')).message).toContain('its servers are no object');
  expect(faultOf(() => readDesktopConfiguration(`{"mcpServers": {}}${' '.repeat(MiB)}`)).code).toBe('E3810');
});

test('hostile text is read in linear time and prototype keys are ordinary names', () => {
  expect(faultOf(() => readDesktopConfiguration(',]'.repeat(400_000))).code).toBe('E3801');
  expect(faultOf(() => readDesktopConfiguration('"\\'.repeat(300_000))).code).toBe('E3801');
  const { upstreams } = readDesktopConfiguration(
    '{"mcpServers": {"__proto__": {"command": "x"}, "constructor": {"command": "y"}}}',
  );
  expect(upstreams.map(({ name }) => name)).toEqual(['proto', 'constructor']);
  expect(
    readDesktopConfiguration('{"mcpServers": {"a": {"command": "/* no comment */ // none,}"}}}').upstreams[0]
      ?.transport,
  ).toEqual({
    type: 'stdio',
    command: '/* no comment */ // none,}',
  });
});

test('REG-14 a value that stands in for a secret is asked for by its name, and one that is a secret is not told', () => {
  const { upstreams, notes } = servers({
    a: {
      command: 'x',
      env: {
        API_KEY: '<your-api-key>',
        EMPTY_TOKEN: '',
        TOKEN: 'YOUR_TOKEN_HERE',
        MODE: 'fast',
        EMPTY: '',
        REAL: `ghp_${'a1B2'.repeat(9)}`,
      },
    },
    b: {
      url: 'https://example.com/mcp',
      headers: { Authorization: `Bearer ${'$'}{input:api-key}`, 'X-Api-Key': '<key>' },
    },
  });
  expect(upstreams[0]?.transport).toMatchObject({
    env: { API_KEY: '{{API_KEY}}', EMPTY_TOKEN: '{{EMPTY_TOKEN}}', TOKEN: '{{TOKEN}}', MODE: 'fast', EMPTY: '' },
  });
  expect(upstreams[1]?.transport).toMatchObject({
    headers: { Authorization: 'Bearer {{api-key}}', 'X-Api-Key': '{{X-Api-Key}}' },
  });
  const told = notes.join('\n');
  for (const name of ['API_KEY', 'EMPTY_TOKEN', 'TOKEN', 'api-key', 'X-Api-Key'])
    expect(told).toContain(`secret ${name}`);
  expect(told).not.toContain('ghp_');
});
