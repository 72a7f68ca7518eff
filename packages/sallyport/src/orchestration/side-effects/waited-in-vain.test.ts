import { expect, test } from 'vitest';
import { memoryCompensationStore } from '../../../test/stores/outcomes/memory-compensation-store.ts';
import { ALICE, approvalsOf } from '../approvals/approvals.fixture.ts';
import { type Compensated, createSideEffects } from '../side-effects.ts';

const DAY_MS = 24 * 3_600_000;

/** A booking, and a tool that takes it back once an approver agrees and must not run twice. */
async function booking() {
  const made = await approvalsOf();
  await made.add('book', { side_effect_policy: 'compensatable', compensation_tool_id: 'unbook' });
  await made.add('unbook', { execution_config: { requires_approval: true } });
  const effects = createSideEffects({
    ...made.parts,
    compensations: memoryCompensationStore(),
    async runCall(call) {
      const record = await made.run(call);
      made.approvals.noticed(record);
      await made.approvals.idle();
      return record;
    },
    findTool: (tenantId, toolId) => {
      const found = made.parts.registry.find(tenantId, toolId);
      return 'tool' in found ? found.tool.manifest : undefined;
    },
  });
  const asker = { caller: { door: 'library', token: await made.token() }, agentDid: 'did:agent:a' } as const;
  const record = await made.call({ tool_id: 'book', parameters: { n: 1 } });
  const asks = async (n = 1) => (await effects.compensate(record, asker, { n })) as Compensated;
  const standing = async () => (await effects.find('acme', record.invocationId))?.status;
  const pending = () => made.approvals.pending('acme', 9, 0);
  const approves = async () => {
    const [waits] = await pending();
    await made.approvals.approve({ approvalId: waits?.request.approvalId ?? '', approver: ALICE });
    await made.approvals.idle();
  };
  return { ...made, effects, asks, standing, pending, approves };
}

type Booking = Awaited<ReturnType<typeof booking>>;

async function expires({ clock, approvals }: Booking): Promise<void> {
  clock.pass(DAY_MS);
  await approvals.sweep();
  await approvals.idle();
}

async function denies({ approvals, pending }: Booking): Promise<void> {
  const [waits] = await pending();
  await approvals.deny({ approvalId: waits?.request.approvalId ?? '', approver: ALICE });
  await approvals.idle();
}

test('VIS-03.5 a compensation that nobody decided on is asked for again, with other arguments too', async () => {
  for (const n of [1, 2]) {
    const made = await booking();
    expect((await made.asks()).effect.status).toBe('compensating');
    await expires(made);
    const again = await made.asks(n);
    expect([again.failure, again.effect.status]).toEqual([undefined, 'compensating']);
    expect(await made.pending()).toHaveLength(1);
    expect((await made.asks(3)).failure).toBeUndefined();
    await made.approves();
    expect((await made.asks()).effect.status).toBe('compensated');
    expect(made.ran.filter(({ tool }) => tool === 'unbook')).toEqual([{ tool: 'unbook', n }]);
  }
});

test('VIS-03.5 a denied compensation says so, and a later request asks again under a key of its own', async () => {
  const made = await booking();
  await made.asks();
  await denies(made);
  const denied = await made.asks();
  expect(denied).toMatchObject({
    effect: { status: 'compensation_failed' },
    failure: { details: { e_code: 'E3807' } },
  });
  expect(denied.failure?.message).toMatch(/denied/);
  expect((await made.asks()).effect.status).toBe('compensating');
  await expires(made);
  expect((await made.asks(2)).effect.status).toBe('compensating');
  await made.approves();
  expect((await made.asks()).effect.status).toBe('compensated');
  expect(made.ran.filter(({ tool }) => tool === 'unbook')).toEqual([{ tool: 'unbook', n: 2 }]);
});

test('VIS-03 a compensation whose call waited in vain is no longer compensating, though nobody asks again', async () => {
  const expired = await booking();
  await expired.asks();
  expect(await expired.standing()).toBe('compensating');
  await expires(expired);
  expect(await expired.effects.settleOpen()).toBe(0);
  expect(await expired.standing()).toBe('executed');
  const denied = await booking();
  await denied.asks();
  await denies(denied);
  expect(await denied.effects.settleOpen()).toBe(1);
  expect(await denied.standing()).toBe('compensation_failed');
});
