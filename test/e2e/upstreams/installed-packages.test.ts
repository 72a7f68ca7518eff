import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UpstreamDetail } from '../../../packages/sallyport/api/schemas/upstream.ts';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer, post } from '../layer.fixture.ts';
import { type NpmRegistry, openNpmRegistry, publishServer } from './npm-registry.fixture.ts';

let open: OpenLayer;
let registry: NpmRegistry;
let operator: string;
beforeAll(async () => {
  registry = await openNpmRegistry();
  publishServer(registry, '@of/packed', '1.0.0');
  open = await openLayer({}, { ...pathOnly(), npm_config_registry: registry.url });
  operator = (await open.layer.mintToken({ roles: ['operator'] })).capability_token;
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await registry[Symbol.asyncDispose]();
});

const pathOnly = () => ({ PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' });
const add = (name: string, args: readonly string[], install?: boolean) =>
  post(
    { ...open, token: operator },
    '/v1/upstreams',
    JSON.stringify({ upstream: { name, transport: { type: 'stdio', command: 'npx', args } }, install }),
  );
async function say(name: string): Promise<string> {
  return JSON.stringify(
    await open.layer.invoke({ tool_id: `${name}__say`, parameters: {}, capability_token: open.token }),
  );
}
const definitionOf = async (name: string) =>
  ((await open.layer.ask('upstreams.get', { name }, LOCAL_CALLER)) as UpstreamDetail).definition;

test('REG-14 a package is installed only when that was said, pinned, without its scripts, and runs read-only and offline', async () => {
  const refused = await add('packed', ['-y', '@of/packed', 'one']);
  expect(refused).toMatchObject({ status: 400, body: { details: { install: { package: '@of/packed' } } } });
  expect(registry.asked).toEqual([]);

  const added = await add('packed', ['-y', '@of/packed', 'one'], true);
  expect(added).toMatchObject({ status: 201, body: { upstream: { state: 'ready', tool_count: 1 } } });
  expect(await say('packed')).toContain('part 2.0.0 one read-only offline');
  const { transport } = await definitionOf('packed');
  expect(transport).toMatchObject({ installed: { manager: 'npm', name: '@of/packed', version: '1.0.0' } });
  const id = (transport as { installed: { id: string } }).installed.id;
  const { events } = await open.layer.ask('audit.query', { type: 'ai.agent.registry.changed' }, LOCAL_CALLER);
  expect(events.map(({ data }) => data)).toContainEqual(
    expect.objectContaining({ change: 'upstream-package-pinned', package: expect.objectContaining({ id }) }),
  );
  const folder = join(open.folder, 'packages', id);
  expect(existsSync(join(folder, 'node_modules', '@of', 'packed', 'server.mjs'))).toBe(true);
  expect(existsSync(join(folder, 'node_modules', '@of', 'packed', 'ran.txt'))).toBe(false);
});

test('REG-14 what is installed stays: the same package again downloads nothing and takes nothing newer', async () => {
  expect(await add('first', ['-y', '@of/packed'], true)).toMatchObject({ status: 201 });
  publishServer(registry, '@of/packed', '1.1.0');
  const before = registry.asked.length;
  expect(await add('first', ['-y', '@of/packed', 'changed'])).toMatchObject({ status: 201 });
  expect(registry.asked.length).toBe(before);
  expect((await definitionOf('first')).transport).toMatchObject({ installed: { version: '1.0.0' } });
  expect(await add('second', ['-y', '@of/packed@1.1.0'], true)).toMatchObject({ status: 201 });
  expect((await definitionOf('second')).transport).toMatchObject({ installed: { version: '1.1.0' } });
  expect(readdirSync(join(open.folder, 'packages')).filter((entry) => entry.startsWith('.'))).toEqual([]);
});

test('REG-14 other bytes than the registry vouches for, another place than the registry, and a package that is not there are refused', async () => {
  publishServer(registry, 'tampered', '1.0.0');
  registry.corrupt('tampered', '1.0.0');
  const tampered = await add('tampered', ['tampered'], true);
  expect([tampered.status, JSON.stringify(tampered.body)]).toEqual([400, expect.stringContaining('EINTEGRITY')]);
  expect(await add('git', ['pkg@git+https://example.com/x.git'], true)).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('not the name of an npm package') },
  });
  const absent = await add('absent', ['no-such-package'], true);
  expect(absent).toMatchObject({ status: 400, body: { detail: expect.stringContaining(new URL(registry.url).host) } });
});

test('REG-14 two upstreams that need the same package at once download it once', async () => {
  publishServer(registry, 'shared', '1.0.0');
  const added = await Promise.all([add('one', ['shared'], true), add('two', ['shared'], true)]);
  expect(added.map(({ status }) => status)).toEqual([201, 201]);
  expect(registry.asked.filter((path) => path === 'shared/-/1.0.0.tgz')).toHaveLength(1);
});
