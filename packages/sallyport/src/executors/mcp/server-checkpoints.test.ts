import { fileURLToPath } from 'node:url';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import { secretSearch } from '../../external/hide-secrets.ts';
import { fixture, TENANT } from '../../mcp-servers/test-servers/upstreams.fixture.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import { keptCheckpoints } from '../conformance/kept-checkpoints.fixture.ts';
import type { ExecutorCall } from '../executor.port.ts';
import { createMcpExecutor } from './mcp-executor.ts';
import { serverCheckpoints } from './server-checkpoints.ts';

const SERVER = fileURLToPath(new URL('../../mcp-servers/test-servers/counting-server.mjs', import.meta.url));
const CONNECTION_SECRET = 'of-the-connection';
const { upstreams } = fixture(createBubblewrapDriver(), {
  secrets: { read: async () => new Map([['KEY', CONNECTION_SECRET]]) },
});
const executor = createMcpExecutor(upstreams);
const never = new AbortController().signal;

beforeAll(async () => {
  const transport: UpstreamDefinition['transport'] = {
    type: 'stdio',
    command: 'node',
    args: [SERVER],
    env: { KEY: '{{KEY}}' },
  };
  await upstreams.add(TENANT, { name: 'counting', transport, may_save_checkpoints: true });
  await upstreams.add(TENANT, { name: 'not-allowed', transport });
});
afterAll(() => upstreams.close());

interface Ran {
  readonly answer: Record<string, unknown>;
  readonly unsaved: readonly string[];
}

async function ran(
  tool: string,
  parameters: Record<string, unknown>,
  { upstream = 'counting', ...more }: Partial<ExecutorCall> & { upstream?: string } = {},
): Promise<Ran> {
  const unsaved: string[] = [];
  const call = callOf({ executor: { kind: 'mcp', config: { upstream, tool } } }, parameters, {
    onProgress: () => {},
    onUnsaved: (why) => unsaved.push(why),
    ...more,
  });
  const { result } = await executor.execute(call, never);
  const [block] = (result as { content: { text: string }[] }).content;
  return { answer: JSON.parse(block?.text ?? '') as Record<string, unknown>, unsaved };
}

const send = (checkpoints: readonly unknown[], more: Parameters<typeof ran>[2]) => ran('send', { checkpoints }, more);

test('STA-01.5 a server saves with its progress, and a later run gets the newest state with its request', async () => {
  const { next, saved } = keptCheckpoints();
  const first = ran('count', { steps: 6, stop_at: 4 }, { checkpoints: await next() });
  await expect(first).rejects.toMatchObject({ code: 'E3109' });
  expect((await saved()).at(-1)).toEqual(['micro', undefined, '{"done":[0,1,2,3]}']);
  const { answer } = await ran('count', { steps: 6 }, { checkpoints: await next() });
  expect(answer).toEqual({ from: 4, done: [0, 1, 2, 3, 4, 5] });
});

test('STA-01.5 milestones and names are kept, and what it is offered says where the state comes from', async () => {
  const { next, saved } = keptCheckpoints();
  const said = [
    { state: 1, milestone: 'half' },
    { state: null, name: 'before the upload', phase: 'uploading', progress_percent: 50 },
    { state: [3] },
  ];
  const { answer, unsaved } = await send(said, { checkpoints: await next() });
  expect([answer['meta'], unsaved]).toMatchObject([{ 'sallyport/checkpoints': {} }, []]);
  expect(await saved()).toEqual([
    ['macro', 'half', '1'],
    ['named', 'before the upload', 'null'],
    ['micro', undefined, '[3]'],
  ]);
  const again = await send([], { checkpoints: await next(), meta: { 'example.com/own': 1 } });
  expect(again.answer['meta']).toMatchObject({
    'example.com/own': 1,
    'sallyport/checkpoints': { restored: { checkpoint_type: 'micro', tool_version: '1.0.0', state: [3] } },
  });
});

test('STA-01.5 a server that the operator has not allowed saves nothing, and is offered nothing', async () => {
  const { next, saved } = keptCheckpoints();
  await (await next()).save({ of: 'another' });
  const { answer, unsaved } = await send([{ state: 1 }], { checkpoints: await next(), upstream: 'not-allowed' });
  expect(answer['meta']).not.toHaveProperty('sallyport/checkpoints');
  expect([unsaved, await saved()]).toEqual([[], [['micro', undefined, '{"of":"another"}']]]);
});

test.each([
  ['no object', 'text'],
  ['no state', { milestone: 'half' }],
  ['a list', [{ state: 1 }]],
  ['a milestone that is no text', { state: 1, milestone: { toString: 1 } }],
  ['a long name', { state: 1, name: 'n'.repeat(257) }],
  ['an empty phase', { state: 1, phase: '' }],
  ['a percentage that is none', { state: 1, progress_percent: 101 }],
  ['a state that is too large', { state: 'x'.repeat(20_000) }],
  ['a state that is nested too deeply', { state: JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`) as unknown }],
  ['a secret of the connection', { state: { key: CONNECTION_SECRET } }],
  ['a secret of the call', { state: { key: 'secret-of-the-call' } }],
])('STA-01.5 what a hostile server sends is not stored, the call ends as it would: %s', async (_what, checkpoint) => {
  const { next, saved } = keptCheckpoints({ stateBytesMax: 10_000 });
  const secrets = new Map([['CALL', 'secret-of-the-call']]);
  const holdsSecret = secretSearch(secrets);
  const checkpoints = await next(holdsSecret === undefined ? {} : { holdsSecret });
  const { answer, unsaved } = await send([checkpoint, { state: 'good' }], { checkpoints, secrets });
  expect(answer['meta']).toBeDefined();
  expect(unsaved).toHaveLength(1);
  expect(await saved()).toEqual([['micro', undefined, '"good"']]);
});

test('STA-01.5 of micro ones that come faster than they are stored the last is stored, and of others only so many wait', async () => {
  const { next, saved } = keptCheckpoints();
  const checkpoints = await next();
  const unsaved: string[] = [];
  const onUnsaved = (why: string): void => void unsaved.push(why);
  const { take, settled } = serverCheckpoints(callOf({ executor: { kind: 'mcp' } }, {}, { checkpoints, onUnsaved }));
  for (let state = 0; state < 50; state += 1) take({ state });
  for (let state = 0; state < 40; state += 1) take({ state, milestone: 'm' });
  await settled();
  const all = await saved();
  expect(all.slice(0, 3).map(([type, , state]) => [type, state])).toEqual([
    ['micro', '0'],
    ['micro', '49'],
    ['macro', '0'],
  ]);
  expect([all.length, unsaved.length]).toEqual([17, 25]);
});

test('STA-02.3 a state that is no JSON cannot be given to a server: the call is not sent', async () => {
  const { next } = keptCheckpoints();
  await (await next()).save(Buffer.from([0, 255]));
  await expect(send([], { checkpoints: await next() })).rejects.toMatchObject({ code: 'E3703' });
});
