import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { UpstreamDefinition } from '../../../packages/sallyport/api/schemas/upstream.ts';
import type { EmbeddedToolLayer } from '../../../packages/sallyport/src/index.ts';
import {
  embeddedDatabases,
  run,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { type OpenLayer, openLayer } from '../layer.fixture.ts';

const LOCAL = { door: 'library', local: true } as const;
const ENOUGH = { timeout: 20_000 };

let databases: TestDatabases;
beforeAll(async () => {
  databases = await embeddedDatabases(true);
});
afterAll(() => databases.close());
const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

/** A server that answers a call when the test says so, and reports then that it lists one more tool. */
async function growingServer() {
  const tools: object[] = [{ name: 'first', inputSchema: { type: 'object' } }];
  const waiting: (() => void)[] = [];
  const results: Readonly<Record<string, () => object>> = {
    initialize: () => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'growing', version: '1.0.0' },
    }),
    'tools/list': () => ({ tools }),
  };
  const server = createServer(async (request, response) => {
    const { id, method } = JSON.parse((await text(request)) || '{}');
    const message = (more: object): string => JSON.stringify({ jsonrpc: '2.0', ...more });
    const result = results[method];
    if (result !== undefined)
      response.setHeader('content-type', 'application/json').end(message({ id, result: result() }));
    else if (method === 'tools/call') {
      await new Promise<void>((resolve) => waiting.push(resolve));
      tools.push({ name: `more-${tools.length}`, inputSchema: { type: 'object' } });
      response.setHeader('content-type', 'text/event-stream');
      const changed = message({ method: 'notifications/tools/list_changed' });
      response.end(`data: ${changed}\n\ndata: ${message({ id, result: { content: [] } })}\n\n`);
    } else response.writeHead(id === undefined ? 202 : 405).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push({
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return {
    definition: {
      name: 'growing',
      transport: { type: 'http', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` } as const,
    },
    waiting,
    tools,
  };
}

const status = async ({ layer }: OpenLayer) => (await layer.ask('upstreams.list', {}, LOCAL)).upstreams[0];
const call = ({ layer, token }: OpenLayer): ReturnType<EmbeddedToolLayer['invoke']> =>
  layer.invoke({ tool_id: 'growing__first', parameters: {} }, { token });
const toolIds = async ({ layer }: OpenLayer) =>
  (await layer.ask('tools.list', {}, LOCAL)).tools.map(({ tool_id }) => tool_id);

/** Two layers over one database; the upstream was added at the first before the second was opened. */
async function twoLayers(more: Partial<UpstreamDefinition> = {}) {
  const server = await growingServer();
  const connection = await databases.fresh();
  const url = 'url' in connection ? connection.url : '';
  const one = await openLayer({ 'database.url': url });
  opened.push(one);
  await one.layer.ask('upstreams.add', { upstream: { ...server.definition, ...more } }, LOCAL);
  const two = await openLayer({ 'database.url': url });
  opened.push(two);
  await expect.poll(() => status(two), ENOUGH).toMatchObject({ state: 'ready' });
  return { one, two, server };
}

test('OPS-04.1 an upstream that was disabled or enabled at one instance is so at the other', async () => {
  const { one, two } = await twoLayers();
  await one.layer.ask('upstreams.disable', { name: 'growing' }, LOCAL);
  await expect.poll(() => status(two), ENOUGH).toMatchObject({ state: 'stopped' });
  expect(await call(two)).toMatchObject({ error: { e_code: 'E3310' } });
  await two.layer.ask('upstreams.enable', { name: 'growing' }, LOCAL);
  await expect.poll(() => status(one), ENOUGH).toMatchObject({ state: 'ready' });
}, 60_000);

test('OPS-04.1 a server brings no tools back at one instance after its upstream was removed at the other', async () => {
  const { one, two, server } = await twoLayers();
  const running = call(two);
  await expect.poll(() => server.waiting.length, ENOUGH).toBe(1);
  expect(await one.layer.ask('upstreams.remove', { name: 'growing' }, LOCAL)).toMatchObject({
    removed_tools: ['growing__first'],
  });
  for (const answer of server.waiting) answer();
  await running;
  await expect.poll(() => status(two), ENOUGH).toBeUndefined();
  expect([await toolIds(one), await toolIds(two)]).toEqual([[], []]);
  await one.layer.ask('upstreams.add', { upstream: server.definition }, LOCAL);
  await expect.poll(() => status(two), ENOUGH).toMatchObject({ name: 'growing', state: 'ready' });
  await expect.poll(() => toolIds(two), ENOUGH).toEqual(await toolIds(one));
}, 60_000);

test('REG-09.6 OPS-04.1 what an operator refuses or accepts at one instance holds at the other', async () => {
  const { one, two, server } = await twoLayers({ accept_new_tools: false });
  const running = call(one);
  await expect.poll(() => server.waiting.length, ENOUGH).toBe(1);
  server.waiting[0]?.();
  await running;
  const waiting = async ({ layer }: OpenLayer) =>
    (await layer.ask('upstreams.quarantine', {}, LOCAL)).quarantined.map(({ tool_id, reason }) => [tool_id, reason]);
  await expect.poll(() => waiting(one), ENOUGH).toEqual([['growing__more-1', 'new']]);
  await one.layer.ask('upstreams.reject', { name: 'growing', tool: 'more-1' }, LOCAL);
  await expect.poll(() => waiting(two), ENOUGH).toEqual([['growing__more-1', 'rejected']]);
  await one.layer.ask('upstreams.accept', { name: 'growing', tool: 'more-1' }, LOCAL);
  await expect.poll(() => toolIds(two), ENOUGH).toContain('growing__more-1');
  await expect.poll(() => waiting(two), ENOUGH).toEqual([]);
}, 60_000);

test('REG-09.5 REG-09.6 OPS-04.1 what was accepted at one instance holds at once at the other, which shows another definition', async () => {
  const server = await growingServer();
  const connection = await databases.fresh();
  const settings = { 'database.url': 'url' in connection ? connection.url : '' };
  const one = await openLayer(settings);
  opened.push(one);
  const two = await openLayer(settings);
  opened.push(two);
  const add = async ({ layer }: OpenLayer) =>
    (await layer.ask('upstreams.add', { upstream: server.definition }, LOCAL)).registrations;
  const [accepted] = server.tools;
  expect(await add(one)).toMatchObject([{ outcome: 'created' }]);
  server.tools[0] = { ...accepted, description: 'Does something else.' };
  expect(await add(two)).toMatchObject([{ outcome: 'refused', error: { e_code: 'E3813' } }]);
  expect(await call(two)).toMatchObject({ error: { e_code: 'E3813' } });
  // The one that did not see the block lifts it on record too.
  server.tools[0] = { ...accepted };
  expect(await add(one)).toMatchObject([{ outcome: 'unchanged' }]);
  const blocks = 'select 1 from sallyport.upstream_tools where block is not null';
  expect(await run(connection, blocks)).toEqual([]);
}, 60_000);
