import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  type NativeFunction,
  silentLog,
} from '../../../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { urlOf } from '../../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { DOUBLE, type OpenLayer, openLayer, post } from '../../layer.fixture.ts';

type Claims = Parameters<EmbeddedToolLayer['mintToken']>[0];

const ADA = { agent_did: 'did:example:a', user_did: 'did:user:ada' };
const LONG = { ...DOUBLE, tool_id: 'long', side_effect_policy: 'idempotent', idempotent: true } as const;

/** Its calls leave no row before they end. */
const PURE = { ...DOUBLE, tool_id: 'pure' } as const;

let open: OpenLayer;
/** Another instance on the same database. */
let other: EmbeddedToolLayer;
let folder: string;
/** Runs that continue wait for it. */
let gate: Promise<unknown> = Promise.resolve();
let continued = 0;

beforeAll(async () => {
  open = await openLayer();
  if (open.layer.embeddedDatabase === undefined) throw new Error('The layer has no database of its own.');
  folder = await temporaryDataFolder('sallyport-resumed-');
  const settings = { data_folder: folder, 'database.url': urlOf(open.layer.embeddedDatabase) };
  other = await createToolLayer({ settings, log: silentLog, environment: {} });
  const work: NativeFunction = async ({ n }, { checkpoints: { restored, save } }) => {
    if (restored === undefined) {
      await save({ step: 1 }, n === 3 ? {} : { milestone: 'half' });
      if (n === 2) await gate;
      throw new Error(`The work of ${String(n)} was interrupted.`);
    }
    continued += 1;
    await gate;
    return { continued, from: restored.checkpointId };
  };
  for (const layer of [open.layer, other]) for (const tool of [LONG, PURE]) await layer.registerFunction(tool, work);
  await open.layer.ask('tools.register', { manifest: LONG }, { ...LOCAL_CALLER, tenantId: 'elsewhere' });
});
afterAll(async () => {
  await other.close();
  await open[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const tokenOf = async (claims: Claims, layer = open.layer): Promise<string> =>
  (await layer.mintToken(claims)).capability_token;

const resuming = (id: string) => ({ checkpoint_config: { resume_from_checkpoint_id: id } });

/** Calls the tool over REST. */
async function call(more: object, claims: Claims = ADA) {
  const token = await tokenOf(claims);
  const body = JSON.stringify({ tool_id: 'long', parameters: { n: 1 }, ...more });
  return (await post({ server: open.server, token }, '/v1/invocations', body)).body;
}

/** The checkpoint of a call that was interrupted. */
async function interrupted(tool_id = 'long'): Promise<string> {
  const answer = await call({ tool_id });
  expect(answer['status']).toBe('error');
  const { checkpoints_created } = answer['execution_metadata'] as { checkpoints_created: { checkpoint_id: string }[] };
  return checkpoints_created[0]?.checkpoint_id ?? '';
}

test('STA-02.1 PIPE-07 an idempotency key belongs to the checkpoint too that its call resumes', async () => {
  const [one, two] = [await interrupted(), await interrupted()];
  const keyed = (id: string) => call({ execution_options: { idempotency_key: 'the-key' }, ...resuming(id) });
  const first = await keyed(one);
  expect(first).toMatchObject({ status: 'success', result: { from: one } });
  expect(await keyed(one)).toMatchObject({ status: 'success', result: first['result'] });
  expect(await keyed(two)).toMatchObject({ status: 'error', error: { e_code: 'E3802' } });
  expect(await call({ execution_options: { idempotency_key: 'the-key' } })).toMatchObject({
    error: { e_code: 'E3802' },
  });
  expect(await call(resuming(two))).toMatchObject({ status: 'success', result: { from: two } });
});

test('STA-02.3 a client of MCP continues the work of an earlier call too, and of nobody else', async () => {
  const id = await interrupted();
  const overMcp = async (claims: Claims) => {
    const client = new Client({ name: 'resuming', version: '1.0.0' });
    const requestInit = { headers: { authorization: `Bearer ${await tokenOf(claims)}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${open.server.url}/mcp`), { requestInit }));
    const _meta = { 'sallyport/resume_from_checkpoint_id': id };
    const result = await client.callTool({ name: 'long', arguments: { n: 1 }, _meta });
    await client.close();
    return JSON.stringify(result);
  };
  expect(await overMcp({ ...ADA, user_did: 'did:user:bob' })).toContain('E3702');
  expect(await overMcp(ADA)).toContain(id);
});

test.each(['long', 'pure'])(
  'STA-05 of two calls of %s that resume at once on two instances, one continues and one is refused',
  async (tool_id) => {
    const id = await interrupted(tool_id);
    const before = continued;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    gate = promise;
    const request = { tool_id, parameters: { n: 1 }, ...resuming(id) };
    const elsewhere = other.invoke(request, { token: await tokenOf(ADA, other) });
    const both = [call({ tool_id, ...resuming(id) }), elsewhere];
    const refused = await Promise.race(both);
    expect(refused).toMatchObject({ status: 'error', error: { e_code: 'E3704' } });
    resolve(undefined);
    const answers = await Promise.all(both);
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['error', 'success']);
    expect(continued).toBe(before + 1);
  },
);

test('STA-05 a checkpoint of a call that still runs is not resumed, also where the call leaves no row', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  gate = promise;
  const first = call({ tool_id: 'pure', invocation_id: 'inv-still-runs', parameters: { n: 2 } });
  const saved = async () =>
    (await open.layer.ask('checkpoints.list', { invocation_id: 'inv-still-runs' }, LOCAL_CALLER)).checkpoints[0];
  await expect.poll(saved).toBeDefined();
  const id = (await saved())?.checkpoint_id ?? '';
  expect(await call({ tool_id: 'pure', ...resuming(id) })).toMatchObject({ error: { e_code: 'E3704' } });
  resolve(undefined);
  expect(await first).toMatchObject({ status: 'error', error: { e_code: 'E3109' } });
  expect(await call({ tool_id: 'pure', ...resuming(id) })).toMatchObject({ status: 'success', result: { from: id } });
});

test.each([
  ['user of the same agent', { ...ADA, user_did: 'did:user:bob' }],
  ['agent of the same user', { ...ADA, agent_did: 'did:example:b' }],
  ['tenant', { ...ADA, tenant_id: 'elsewhere' }],
])('STA-02.3 a checkpoint of a call of another %s is unknown, and the work stays whose it is', async (_, claims) => {
  const id = await interrupted();
  const before = continued;
  const [foreign, unknown] = [await call(resuming(id), claims), await call(resuming('ckpt_unknown'), claims)];
  expect(foreign).toMatchObject({ status: 'error', error: { e_code: 'E3702' } });
  const textOf = (answer: object): string => (answer as { error: { message: string } }).error.message;
  expect(textOf(foreign)).toBe(textOf(unknown));
  expect(continued).toBe(before);
  expect(await call(resuming(id))).toMatchObject({ status: 'success', result: { from: id } });
});

test('ORC-05.2 STA-06.1 an instance whose clock is two hours ahead ends nothing of the others', async () => {
  const clock = { now: () => Date.now() + 2 * 3_600_000, monotonic: () => performance.now() };
  if (open.layer.embeddedDatabase === undefined) throw new Error('The layer has no database of its own.');
  const own = await temporaryDataFolder('sallyport-ahead-');
  const settings = {
    data_folder: own,
    'database.url': urlOf(open.layer.embeddedDatabase),
    'secrets.key_file': join(open.folder, 'secrets', 'key'),
  };
  const ahead = await createToolLayer({ settings, clock, log: silentLog, environment: {} });
  const asks = { ...DOUBLE, tool_id: 'asks', execution_config: { requires_approval: true } } as const;
  for (const layer of [open.layer, ahead]) await layer.registerFunction(asks, () => 'ran');
  await ahead.registerFunction(LONG, (_arguments, { checkpoints }) => checkpoints.restored?.toolVersion);
  const waiting = await call({ tool_id: 'asks' });
  const failed = await call({ parameters: { n: 3 } });
  const [saved] = (failed['execution_metadata'] as { checkpoints_created: { checkpoint_id: string }[] })
    .checkpoints_created;
  const resumed = { tool_id: 'long', parameters: { n: 3 }, ...resuming(saved?.checkpoint_id ?? '') };
  const answer = await ahead.invoke(resumed, { token: await tokenOf(ADA, ahead) });
  const approver = { ...LOCAL_CALLER, token: await tokenOf({ user_did: 'did:user:bob', roles: ['approver'] }, ahead) };
  const { approvals } = await ahead.ask('approvals.list', {}, approver);
  const approval_id = approvals[0]?.approval_id ?? '';
  const decided = await ahead.ask('approvals.approve', { approval_id }, approver);
  expect(answer).toMatchObject({ status: 'success', result: '1.0.0' });
  expect([waiting['status'], decided]).toMatchObject(['pending_approval', { state: 'approved' }]);
  const { invocation_id } = waiting as { invocation_id: string };
  const ended = () => open.layer.ask('invocations.get', { invocation_id }, LOCAL_CALLER);
  await expect.poll(async () => (await ended()).state).toBe('COMPLETED');
  await ahead.close();
  await rm(own, { recursive: true, force: true });
});
