import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToolLayer, LOCAL_CALLER, silentLog, ToolLayerError } from '../../../packages/sallyport/src/index.ts';
import { ALICE, BOB, type Desk, openDesk, setClock, toolOf } from './desk.fixture.ts';

let folder: string;
let desk: Desk;
let alice: string;
let operator: string;
let cuts = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-waited-'));
  desk = await openDesk({ folder });
  const run =
    (id: string) =>
    ({ n }: Readonly<Record<string, unknown>>) => {
      desk.runs.push(`${id} ${String(n)}`);
      if (id === 'cut' && cuts-- > 0) throw new ToolLayerError('E3107', 'Gone.', { details: { reached: true } });
      return { done: n };
    };
  const limited = { execution_config: { requires_approval: true, rate_limit: { per_minute: 60, burst: 1 } } };
  await desk.layer.registerFunction(toolOf('limited', limited), run('limited'));
  await desk.layer.registerFunction(toolOf('cut', {}), run('cut'));
  alice = await desk.token(ALICE);
  operator = await desk.token({ ...BOB, roles: ['operator'] });
});
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('PRM-01 ORC-05 an API key that is revoked while its call waits stops the call, whatever is approved', async () => {
  const made = await desk.rest('POST', '/v1/api-keys', operator, { name: 'agent', agent_did: 'did:agent:keyed' });
  const { api_key, key } = made.body as { api_key: string; key: { key_id: string } };
  const [stopped, goesOn] = [await desk.waits('pay', 1, {}, api_key), await desk.waits('pay', 2)];
  await desk.rest('DELETE', `/v1/api-keys/${key.key_id}`, operator);
  for (const { approvalId } of [stopped, goesOn])
    expect((await desk.rest('POST', `/v1/approvals/${approvalId}/approval`, alice, {})).status).toBe(200);
  expect(await desk.reaches(stopped.invocationId, 'DENIED')).toMatchObject({ error: { e_code: 'E3208' } });
  await desk.reaches(goesOn.invocationId, 'COMPLETED');
  expect(desk.runs).toEqual(['pay 2']);
});

test('ORC-03 PIPE-08 approved calls that find no room wait for it, and each runs once', async () => {
  desk.runs.length = 0;
  const waiting = await Promise.all([1, 2, 3].map((n) => desk.waits('limited', n)));
  for (const { approvalId } of waiting) await desk.rest('POST', `/v1/approvals/${approvalId}/approval`, alice, {});
  for (const { invocationId } of waiting) await desk.reaches(invocationId, 'COMPLETED');
  expect(desk.runs.sort()).toEqual(['limited 1', 'limited 2', 'limited 3']);
});

test('PIPE-09 PIPE-13 VIS-03 once an outcome is settled, its key and its side effect follow', async () => {
  desk.runs.length = 0;
  cuts = 1;
  const keyed = { execution_options: { idempotency_key: 'once' } };
  const first = await desk.invoke('cut', 1, keyed);
  const id = String(first.body['invocation_id']);
  expect(first.body['error']).toMatchObject({ e_code: 'E3804' });
  const effect = async () => (await desk.rest('GET', `/v1/side-effects/${id}`, operator)).body['status'];
  expect(await effect()).toBe('unknown');
  const settlement = { outcome: 'happened', note: 'Seen.', result: { done: 'so' } };
  expect((await desk.rest('POST', `/v1/outcomes/${id}/settlement`, operator, settlement)).status).toBe(200);
  const again = await desk.invoke('cut', 1, keyed);
  expect(again.body).toMatchObject({ invocation_id: id, status: 'success', result: { done: 'so' } });
  expect(await effect()).toBe('executed');
  expect(desk.runs).toEqual(['cut 1']);
  const { events } = await desk.layer.ask('audit.query', { invocation_id: id }, LOCAL_CALLER);
  expect(events.map(({ type }) => type)).toContain('ai.agent.tool.side_effect.completed');
  expect(await desk.layer.ask('audit.verify', {}, LOCAL_CALLER)).toMatchObject({ whole: true });
});

test('PRM-01.6 ORC-05 a restart after its token expired keeps a call stopped, and what a client carries good', async () => {
  const token = await desk.token({ agent_did: 'did:agent:brief', expires_in_seconds: 60 });
  const { approvalId, invocationId } = await desk.waits('pay', 3, {}, token);
  expect((await desk.rest('POST', '/v1/revocations', operator, { token })).status).toBe(201);
  const made = await desk.rest('POST', '/v1/api-keys', operator, { name: 'brief', expires_in_seconds: 3600 });
  const { api_key } = made.body as { api_key: string };
  const keyed = await desk.waits('pay', 4, {}, api_key);
  const before = desk.layer.forGateway.stateKey();
  await desk[Symbol.asyncDispose]();
  const clock = setClock();
  clock.jump(2 * 3_600_000);
  desk = await openDesk({ folder, clock });
  expect(desk.layer.forGateway.stateKey()).toEqual(before);
  expect((await desk.rest('POST', `/v1/approvals/${approvalId}/approval`, alice, {})).status).toBe(200);
  expect(await desk.reaches(invocationId, 'DENIED')).toMatchObject({ error: { e_code: 'E3208' } });
  // A key that has expired can still be revoked by itself.
  expect((await desk.rest('POST', '/v1/revocations', operator, { token: api_key })).status).toBe(201);
  expect((await desk.rest('POST', `/v1/approvals/${keyed.approvalId}/approval`, alice, {})).status).toBe(200);
  expect(await desk.reaches(keyed.invocationId, 'DENIED')).toMatchObject({ error: { e_code: 'E3208' } });
  expect(desk.runs).toEqual([]);
});

test('a layer does not start that would forget results which its duplicates are answered with', async () => {
  const given = { 'calls.result_retention_days': 0.5, 'idempotency.ttl_seconds': 86_400 };
  const own = await mkdtemp(join(tmpdir(), 'sallyport-waited-'));
  const starting = createToolLayer({ settings: { data_folder: own, ...given }, log: silentLog, environment: {} });
  await expect(starting).rejects.toMatchObject({ code: 'E3801' });
  await rm(own, { recursive: true, force: true });
});
