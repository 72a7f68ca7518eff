import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterEach, expect, test } from 'vitest';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import {
  type FixtureParts,
  failureOf,
  fixture,
  odd,
  TENANT,
  textOf,
  until,
} from '../../test-servers/upstreams.fixture.ts';
import type { Upstreams } from '../../upstreams.ts';

const SERVER = fileURLToPath(new URL('../../test-servers/changing-server.mjs', import.meta.url));
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function make(parts: FixtureParts = {}): Upstreams {
  const { upstreams } = fixture(createBubblewrapDriver(), { settings: { relistIntervalMs: 10 }, ...parts });
  opened.push(() => upstreams.close());
  return upstreams;
}

const tools = (...names: readonly string[]) => names.map((name) => ({ name, inputSchema: { type: 'object' } }));

async function changing(transport: 'stdio' | 'http'): Promise<UpstreamDefinition> {
  const folder = mkdtempSync(join(tmpdir(), 'changing-'));
  opened.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'state.json');
  writeFileSync(file, JSON.stringify({ version: '1.0.0', tools: tools('a', 'b', 'c', 'd') }));
  if (transport === 'stdio') {
    const mounts = [{ path: folder, mode: 'rw' as const }];
    return { name: 'changing', transport: { type: 'stdio', command: 'node', args: [SERVER, 'stdio', file], mounts } };
  }
  const child: ChildProcess = spawn(process.execPath, [SERVER, 'http', file], { stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  opened.push(() => {
    child.kill('SIGKILL');
    return exited;
  });
  const [port] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { name: 'changing', transport: { type: 'http', url: `http://127.0.0.1:${String(port).trim()}/mcp` } };
}

test.each(['stdio', 'http'] as const)(
  'REG-02.1 REG-02.2 every page of a list is read over %s, and a list that changes is read anew',
  async (transport) => {
    const upstreams = make();
    const added = await upstreams.add(TENANT, await changing(transport));
    expect(added.tools.map(({ name }) => name)).toEqual(['control', 'a', 'b', 'c', 'd']);
    const told: string[][] = [];
    upstreams.onToolsChanged((_tenant, _name, list) => told.push(list.map(({ name }) => name)));
    expect(told).toEqual([['control', 'a', 'b', 'c', 'd']]);
    const state = { version: '1.0.0', tools: tools('a', 'x', 'y', 'z', 'b', 'c') };
    await upstreams.call(TENANT, 'changing', 'control', { state }, { timeoutMs: 10_000 });
    await until(() => told.length > 1);
    expect(told.at(-1)).toEqual(['control', 'a', 'x', 'y', 'z', 'b', 'c']);
  },
);

test('what a tool may do is judged by how it is listed at the moment of the call', async () => {
  const asked: [string, boolean][] = [];
  const upstreams = make({
    quarantine: {
      refusal(_tenant, _name, tool, hash) {
        asked.push([tool, hash !== undefined]);
        return tool === 'b' ? { failed: true, code: 'E3813', message: 'In quarantine.' } : undefined;
      },
    },
  });
  await upstreams.add(TENANT, await changing('stdio'));
  const run = (tool: string) => upstreams.call(TENANT, 'changing', tool, {}, { timeoutMs: 10_000 });
  expect(textOf(await run('a'))).toBe('a ran as of 1.0.0');
  expect((await failureOf(run('b'))).code).toBe('E3813');
  await run('unlisted');
  expect(asked).toEqual([
    ['a', true],
    ['b', true],
    ['unlisted', false],
  ]);
});

test.each([
  ['a-hundred-thousand', 'it lists more than 20000 tools'],
  ['endless-cursors', 'more than 1000 pages'],
  ['cursor-circle', 'comes back to a page'],
])('a server with %s is refused with the reason, and the layer goes on working meanwhile', async (mode, reason) => {
  const upstreams = make();
  await upstreams.add(TENANT, odd('good'));
  let answered = 0;
  const adding = failureOf(upstreams.add(TENANT, odd(mode)));
  let ended = false;
  void adding.then(() => {
    ended = true;
  });
  while (!ended) {
    await upstreams.call(TENANT, 'good', 'echo', { message: 'x' }, { timeoutMs: 10_000 });
    answered += 1;
  }
  const refused = await adding;
  expect(refused.code).toBe('E3308');
  expect(refused.message).toContain(reason);
  expect(answered).toBeGreaterThan(10);
  expect(upstreams.statuses(TENANT).map(({ name }) => name)).toEqual(['good']);
});
