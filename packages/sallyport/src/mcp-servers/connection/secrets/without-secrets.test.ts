import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterEach, expect, test } from 'vitest';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import { failureOf, fixture, odd, TENANT, textOf } from '../../test-servers/upstreams.fixture.ts';
import { echoingServer, WHO_AM_I } from '../per-caller/echoing-server.fixture.ts';

const KEY = 'sesame-0pen-42';
const driver = createBubblewrapDriver();
const probe = await driver.probe();
const opened: { close(): Promise<unknown> | unknown }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
});

/**
 * Upstreams of a tenant with one secret, and a server that returns its Authorization header, on one shared connection.
 */
async function start(header = 'Bearer {{KEY}}') {
  const server = await echoingServer();
  opened.push({ close: () => server[Symbol.asyncDispose]() });
  const { upstreams } = fixture(driver, { secrets: { read: async () => new Map([['KEY', KEY]]) } });
  opened.push(upstreams);
  const { name, transport } = server.definition;
  const definition = { name, transport: { ...transport, headers: { Authorization: header } } } as UpstreamDefinition;
  return { server, upstreams, definition };
}

test('PRM-11 what a connection for all callers is made with is not shown to them, in results and in errors', async () => {
  const { server, upstreams, definition } = await start();
  await upstreams.add(TENANT, definition);
  const call = (args: Record<string, unknown>) => upstreams.call(TENANT, 'notes', 'who', args, { timeoutMs: 5_000 });
  expect(textOf(await call({}))).toBe('[hidden]');
  expect(server.calls[0]?.authorization).toBe(`Bearer ${KEY}`);
  const failed = await failureOf(call({ fail: true }));
  expect(failed.code).toBe('E3109');
  expect(failed.message).not.toContain(KEY);
});

test('a listing shows neither, so that no manifest ever holds it', async () => {
  const { server, upstreams, definition } = await start();
  server.toolsFor = (authorization) => [{ ...WHO_AM_I, description: `You are ${authorization}, welcome.` }];
  const { tools } = await upstreams.add(TENANT, definition);
  expect(tools.map(({ description }) => description)).toEqual(['You are [hidden], welcome.']);
});

test('a secret that stands in the definition itself is hidden by its form; a word that anybody says is not', async () => {
  const hard = await start('Bearer 9f86d081884c7d659a2feaa0c55ad015');
  await hard.upstreams.add(TENANT, hard.definition);
  expect(textOf(await hard.upstreams.call(TENANT, 'notes', 'who', {}, { timeoutMs: 5_000 }))).toBe('[hidden]');
  const plain = await start('anonymous');
  await plain.upstreams.add(TENANT, plain.definition);
  expect(textOf(await plain.upstreams.call(TENANT, 'notes', 'who', {}, { timeoutMs: 5_000 }))).toBe('anonymous');
});

test.skipIf(!probe.works)(
  `PRM-11 nor is the environment of a process shown${probe.works ? '' : `, skipped: ${probe.problem}`}`,
  async () => {
    const { upstreams } = await start();
    await upstreams.add(TENANT, odd('environment', { env: { SERVICE_KEY: '{{KEY}}', COLOUR: 'red-and-green' } }));
    const said = textOf(await upstreams.call(TENANT, 'environment', 'env', {}, { timeoutMs: 20_000 }));
    expect(said).toContain('"SERVICE_KEY":"[hidden]"');
    expect(said).toContain('red-and-green');
    expect(said).not.toContain(KEY);
  },
);
