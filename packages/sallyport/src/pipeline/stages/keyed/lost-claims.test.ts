import { expect, test } from 'vitest';
import { memoryIdempotencyStore } from '../../../../test/stores/calls/memory-idempotency-store.ts';
import { nonceOf } from '../../../domain/invocation/record.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

/** A layer whose claims another call can have taken. */
async function layer() {
  const inner = memoryIdempotencyStore();
  const now = { isTaken: false, isLost: false, claimed: (): void => undefined };
  const made = await pipeline({
    workers: { refuses: () => undefined },
    idempotency: {
      ...inner,
      async claim(claim, ttlMs) {
        now.claimed();
        return now.isTaken ? { ...claim, nonce: 'another' } : inner.claim(claim, ttlMs);
      },
      async find(tenantId, key) {
        return now.isLost ? undefined : inner.find(tenantId, key);
      },
    },
  });
  const ran: string[] = [];
  for (const name of ['count', 'other'])
    await made.add(manifest(name, { side_effect_policy: 'idempotent' }), () => void ran.push(name));
  return { ...made, now, ran };
}

const COUNT = { tool_id: 'count', parameters: { n: 1 } };

/** A call under a key that was accepted for later, and the run of a worker that takes it. */
async function accepted(made: Awaited<ReturnType<typeof layer>>) {
  const execution_options = { idempotency_key: 'k', async_mode: true };
  const record = await made.call({ ...COUNT, execution_options });
  const { waiting, invocationId, acceptedAt, door } = record;
  if (waiting === undefined) throw new Error('the call does not wait');
  const resumed = { invocationId, nonce: nonceOf(record), acceptedAt, waiting };
  return (signal?: AbortSignal) =>
    made.run({ request: waiting.request, caller: { door, ...(signal && { signal }) } }, resumed);
}

test('PIPE-09 a call that waited does not run once another call has its key', async () => {
  const made = await layer();
  const run = await accepted(made);
  made.now.isTaken = true;
  expect(await run()).toMatchObject({ failure: { code: 'E3811' } });
  expect(made.ran).toEqual([]);
  made.now.isTaken = false;
  const again = await layer();
  expect(await (await accepted(again))()).toMatchObject({ state: 'COMPLETED', idempotencyKey: 'k' });
  expect(again.ran).toEqual(['count']);
});

test('PIPE-09 ORC-06 a call that waited, and ends before its tool runs, frees its key', async () => {
  const made = await layer();
  const run = await accepted(made);
  const controller = new AbortController();
  made.now.claimed = () => controller.abort();
  expect(await run(controller.signal)).toMatchObject({ state: 'ABORTED', tenantId: 'acme' });
  expect(await made.call({ ...COUNT, execution_options: { idempotency_key: 'k' } })).toMatchObject({
    state: 'COMPLETED',
    metadata: { cached: false },
  });
  expect(made.ran).toEqual(['count']);
});

test('PIPE-09 ORC-06 a call that waited does not run when its claim is lost by the time that its row is written', async () => {
  const made = await layer();
  const run = await accepted(made);
  made.now.isLost = true;
  expect(await run()).toMatchObject({ failure: { code: 'E3811' } });
  expect(made.ran).toEqual([]);
});

test('PIPE-09 an id whose claim was lost is refused to another agent, and for another tool', async () => {
  const { call, token, parts, ran } = await layer();
  const mine = { ...COUNT, invocation_id: 'mine' };
  await call(mine);
  const { nonce = '' } = (await parts.records.findInvocation('acme', 'mine')) ?? {};
  const capability_token = await token({ agent_did: 'did:agent:b' });
  for (const request of [
    { ...mine, capability_token },
    { ...mine, tool_id: 'other' },
  ]) {
    await parts.idempotency.release('acme', '\nid:mine', nonce);
    expect(await call(request)).toMatchObject({ failure: { code: 'E3802' } });
  }
  expect(ran).toEqual(['count']);
});
