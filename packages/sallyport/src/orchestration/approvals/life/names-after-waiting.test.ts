import { describe, expect, test } from 'vitest';
import { memoryIdempotencyStore } from '../../../../test/stores/calls/memory-idempotency-store.ts';
import { ALICE, type ApprovalsUnderTest, approvalsOf, movedClock, questionOf } from '../approvals.fixture.ts';

const asks = (made: ApprovalsUnderTest, n: number, names: { key?: string; id?: string }) =>
  made.ask({
    tool_id: 'pay',
    parameters: { n },
    ...(names.id === undefined ? {} : { invocation_id: names.id }),
    ...(names.key === undefined ? {} : { execution_options: { idempotency_key: names.key } }),
  });

async function expire({ clock, approvals }: ApprovalsUnderTest): Promise<void> {
  clock.pass(24 * 3_600_000);
  await approvals.sweep();
  await approvals.idle();
}

test('PIPE-09 a call on which nobody decided leaves its key free, for other arguments too: they are asked about', async () => {
  for (const n of [1, 2]) {
    const made = await approvalsOf();
    const first = await asks(made, 1, { key: 'k' });
    await expire(made);
    const again = await asks(made, n, { key: 'k' });
    expect(again.invocationId).not.toBe(first.invocationId);
    await made.approvals.approve({ approvalId: questionOf(again).approvalId, approver: ALICE });
    await made.approvals.idle();
    expect(await asks(made, n, { key: 'k' })).toMatchObject({ state: 'COMPLETED', invocationId: again.invocationId });
    expect(await asks(made, 3, { key: 'k' })).toMatchObject({ failure: { code: 'E3802' } });
    expect(made.ran).toEqual([{ tool: 'pay', n }]);
  }
});

test('PIPE-09 the id of such a call keeps its row: the same request runs beside it, another one is refused', async () => {
  const made = await approvalsOf();
  await asks(made, 1, { id: 'mine' });
  await expire(made);
  expect(await asks(made, 2, { id: 'mine' })).toMatchObject({ failure: { code: 'E3802' } });
  const again = await asks(made, 1, { id: 'mine' });
  expect(again.invocationId).not.toBe('mine');
  expect(again.state).toBe('AUTHORIZED');
  expect(await made.store.findInvocation('acme', 'mine')).toMatchObject({ failure: { code: 'E3808' } });
});

test('PIPE-09 ORC-05.7 a denial is the answer to every request with the key of the denied call', async () => {
  const made = await approvalsOf();
  const first = await asks(made, 1, { key: 'k' });
  await made.approvals.deny({ approvalId: questionOf(first).approvalId, approver: ALICE });
  await made.approvals.idle();
  expect(await asks(made, 1, { key: 'k' })).toMatchObject({ failure: { code: 'E3807' } });
  expect(await asks(made, 2, { key: 'k' })).toMatchObject({ failure: { code: 'E3802' } });
  expect(await made.approvals.pending('acme', 9, 0)).toEqual([]);
});

describe.each([{ edit: undefined }, { edit: { n: 2 } }])(
  'a call that waited longer than its names last, edited: $edit',
  ({ edit }) => {
    test.each([{ key: 'k' }, { id: 'mine' }])('PIPE-09 answers the same request with %o once it ran', async (names) => {
      const clock = movedClock();
      const made = await approvalsOf({ pipeline: { idempotency: memoryIdempotencyStore({ clock }) } });
      const first = await asks(made, 1, names);
      clock.pass(made.parts.limits.idempotencyTtlMs + 1);
      await made.approvals.approve({
        approvalId: questionOf(first).approvalId,
        approver: ALICE,
        ...(edit === undefined ? {} : { parameters: edit }),
      });
      await made.approvals.idle();
      expect(await asks(made, 1, names)).toMatchObject({ state: 'COMPLETED', invocationId: first.invocationId });
      expect(await asks(made, 3, names)).toMatchObject({ failure: { code: 'E3802' } });
      expect(made.ran).toEqual([{ tool: 'pay', n: 1, ...edit }]);
    });
  },
);

test('VIS-04 a call of a turn group whose arguments an approver changed answers the request for these arguments too', async () => {
  const made = await approvalsOf();
  const ask = (n: number) =>
    made.ask({ tool_id: 'pay', parameters: { n }, execution_options: { turn_group_id: 'turn' } });
  const first = await ask(1);
  await made.approvals.approve({ approvalId: questionOf(first).approvalId, approver: ALICE, parameters: { n: 2 } });
  await made.approvals.idle();
  for (const n of [1, 2]) expect(await ask(n)).toMatchObject({ state: 'COMPLETED', invocationId: first.invocationId });
  expect(made.ran).toEqual([{ tool: 'pay', n: 2 }]);
});
