import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { memoryApprovalStore } from '../../../../test/stores/approvals/memory-approval-store.ts';
import { memoryLedgerStore } from '../../../../test/stores/memory-ledger-store.ts';
import type { ApprovalClosing, ApprovalStore } from '../../approval-store.port.ts';
import { ALICE, approvalEvents, approvalsOf, BOB, notingLog, questionOf, rowOf } from '../approvals.fixture.ts';

const PAY = { tool_id: 'pay', parameters: { n: 1 } };
const SEND = { tool_id: 'send', parameters: { n: 1 } };

/** A ledger store that takes a moment for each batch. */
function slowLedgerStore() {
  const memory = memoryLedgerStore();
  const append: typeof memory.append = async (...given) => {
    await setImmediate();
    await memory.append(...given);
  };
  return { ...memory, append };
}

describe('an approved call', () => {
  test('ORC-06 keeps its claim as long as it runs here, and gives it back then', async () => {
    const inner = memoryApprovalStore();
    let claims = 0;
    const store: ApprovalStore = {
      ...inner,
      async claim(...given) {
        claims += 1;
        // The second claim, which renews the first, fails: the call runs on.
        if (claims === 2) throw new Error('away');
        return inner.claim(...given);
      },
    };
    const { log, lines } = notingLog();
    const end = Promise.withResolvers<void>();
    const made = await approvalsOf({
      approvals: { store, log, limits: { leaseMs: 3 }, resume: () => end.promise },
    });
    const { approvalId } = questionOf(await made.ask(PAY));
    await made.approvals.approve({ approvalId, approver: ALICE });
    await expect.poll(() => claims, { interval: 1 }).toBeGreaterThan(3);
    end.resolve();
    await made.approvals.idle();
    expect(lines).toEqual([
      `warn approval-claim-not-renewed ${JSON.stringify({ approval_id: approvalId, reason: 'Error: away' })}`,
    ]);
    // Renewed no longer: another holder takes it at once.
    expect(await inner.claim('acme', approvalId, 'other', 60_000)).toBe(true);
  });

  test('ORC-06 that cannot be resumed is logged, keeps its approval on record once, and is resumed by the next sweep', async () => {
    const { log, lines } = notingLog();
    let isBroken = true;
    const made = await approvalsOf({ approvals: { log } });
    const approvals = made.open({
      resume: async (...given) => {
        if (isBroken) throw new Error('no room');
        await made.resume(...given);
      },
    });
    const waiting = await made.ask(PAY);
    const { approvalId } = questionOf(waiting);
    await approvals.approve({ approvalId, approver: ALICE });
    await approvals.idle();
    await approvals.sweep();
    await approvals.idle();
    const fields = { approval_id: approvalId, invocation_id: waiting.invocationId, reason: 'no room' };
    expect(lines).toEqual(Array(2).fill(`warn approved-call-not-resumed ${JSON.stringify(fields)}`));
    expect(await made.approvalStore.closing('acme', approvalId)).toMatchObject({ noted: true, finished: false });
    isBroken = false;
    await approvals.sweep();
    await approvals.idle();
    expect(made.ran).toEqual([{ tool: 'pay', n: 1 }]);
    const types = (await approvalEvents(made, waiting)).map(({ type }) => type);
    expect(types).toEqual(['ai.agent.approval.requested', 'ai.agent.approval.decided']);
  });

  test('AUD-01.5 ORC-06 is on record as approved before it runs', async () => {
    const order: string[] = [];
    const made = await approvalsOf({ pipeline: { store: slowLedgerStore() } });
    const waiting = await made.ask(PAY);
    const approvals = made.open({
      resume: async () => void order.push(...(await approvalEvents(made, waiting)).map(({ type }) => type)),
    });
    await approvals.approve({ approvalId: questionOf(waiting).approvalId, approver: ALICE });
    await approvals.idle();
    expect(order).toEqual(['ai.agent.approval.requested', 'ai.agent.approval.decided']);
  });

  test('ORC-05.7 whose end holds no approval, or that is no longer there, is not run', async () => {
    const { log, lines } = notingLog();
    const made = await approvalsOf({ approvals: { log } });
    const { approvalId, binding } = questionOf(await made.ask(PAY));
    const { invocationId } = (await made.approvals.pending('acme', 1, 0))[0]?.record ?? { invocationId: '' };
    const closing: ApprovalClosing = {
      tenantId: 'acme',
      approvalId,
      invocationId,
      outcome: 'approved',
      closedAt: made.clock.now(),
      by: ALICE.id,
      approvers: [],
      binding,
      asked: { reason: 'requires_approval', at: 0, until: 1 },
    };
    await made.approvalStore.close(closing);
    await made.approvalStore.close({ ...closing, approvalId: 'gone', invocationId: 'gone' });
    await made.approvals.sweep();
    await made.approvals.idle();
    expect(made.ran).toEqual([]);
    const reason = `the approval ${approvalId} was closed as approved without an approval`;
    expect(lines).toEqual([`error approval-not-carried-out ${JSON.stringify({ reason })}`]);
    expect(await made.approvalStore.closing('acme', 'gone')).toMatchObject({ finished: true });
    expect(await made.approvalStore.closing('acme', approvalId)).toMatchObject({ finished: false });
  });

  test('ORC-03 whose arguments were edited to what they are is the call as it was', async () => {
    const made = await approvalsOf();
    const waiting = await made.ask(PAY);
    const { approvalId } = questionOf(waiting);
    await made.approvals.approve({ approvalId, approver: ALICE, parameters: { n: 1 } });
    await made.approvals.idle();
    expect(made.ran).toEqual([{ tool: 'pay', n: 1 }]);
    expect((await approvalEvents(made, waiting)).at(-1)?.data).not.toHaveProperty('edited');
    expect(await made.approvalStore.closing('acme', approvalId)).not.toHaveProperty('parameters');
  });
});

describe('a denied call', () => {
  test('ORC-03.7 has ended once the approver is answered, however long its row takes', async () => {
    const made = await approvalsOf({ pipeline: { store: slowLedgerStore() } });
    const waiting = await made.ask(PAY);
    const { approvalId } = questionOf(waiting);
    await made.approvals.deny({ approvalId, approver: ALICE });
    expect(await rowOf(made, waiting)).toMatchObject({ state: 'DENIED' });
    await made.approvals.idle();
    expect(await made.approvalStore.closing('acme', approvalId)).toMatchObject({ noted: true, finished: true });
    const other = await made.ask(PAY);
    expect(await made.approvals.withdraw('acme', other.invocationId, 'did:agent:a')).toBe(true);
    expect(await rowOf(made, other)).toMatchObject({ state: 'ABORTED' });
  });

  test('ORC-03 whose claim could not be given back is taken up again at once, though the store shows the claim', async () => {
    const inner = memoryApprovalStore();
    let isBroken = true;
    const store: ApprovalStore = {
      ...inner,
      release: async (...given) => (isBroken ? Promise.reject(new Error('away')) : inner.release(...given)),
    };
    const made = await approvalsOf({ approvals: { store } });
    const approvals = made.open({
      resume: async (...given) => (isBroken ? Promise.reject(new Error('no room')) : made.resume(...given)),
    });
    const { approvalId } = questionOf(await made.ask(PAY));
    await approvals.approve({ approvalId, approver: ALICE });
    await approvals.idle();
    isBroken = false;
    await approvals.sweep();
    await approvals.idle();
    expect(made.ran).toEqual([{ tool: 'pay', n: 1 }]);
  });
});

test('ORC-05.3 of two who withdraw a call at the same moment one does, and one who denies meanwhile is refused', async () => {
  const made = await approvalsOf();
  const { invocationId, ...waiting } = await made.ask(PAY);
  const { approvalId } = questionOf({ invocationId, ...waiting });
  const withdraw = () => made.approvals.withdraw('acme', invocationId, 'did:agent:a');
  const ends = await Promise.all([withdraw(), withdraw(), made.approvals.deny({ approvalId, approver: ALICE })]);
  expect(ends.slice(0, 2).toSorted()).toEqual([false, true]);
  expect(ends[2]).toMatchObject({ code: 'E3817', details: { outcome: 'withdrawn' } });
  const late = await made.approvals.approve({ approvalId, approver: ALICE });
  expect(late).toMatchObject({ code: 'E3817', details: { outcome: 'withdrawn' } });
});

test('ORC-03 of many decisions at once so many are carried out by one instance, and the others later', async () => {
  const inner = memoryApprovalStore();
  const { binding } = questionOf(await (await approvalsOf()).ask(PAY));
  const closings = Array.from({ length: 1001 }, (_, n) => ({
    tenantId: 'acme',
    approvalId: `${n}`,
    invocationId: `${n}`,
  }));
  let page = 0;
  const claimed = new Set<string>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const store: ApprovalStore = {
    ...inner,
    unfinished: async (limit) => {
      page += 1;
      const rows = closings.slice((page - 1) * limit, page * limit);
      return rows.map((row) => ({ ...row, binding }) as never);
    },
    async claim(_tenant, approvalId) {
      claimed.add(approvalId);
      await released;
      return false;
    },
  };
  const made = await approvalsOf({ approvals: { store } });
  for (let sweeps = 0; sweeps < 11; sweeps += 1) await made.approvals.sweep();
  expect(claimed.size).toBe(1000);
  release();
  await made.approvals.idle();
  page = 10;
  await made.approvals.sweep();
  await made.approvals.idle();
  expect(claimed.size).toBe(1001);
});

describe('a sweep', () => {
  test('ORC-03 counts what waits of each tenant: so many are refused, and no fewer', async () => {
    const made = await approvalsOf({ approvals: { limits: { pendingMax: 3 } } });
    const first = await made.ask(PAY);
    await made.ask(SEND);
    await made.approvals.deny({ approvalId: questionOf(first).approvalId, approver: BOB });
    await made.ask(PAY);
    await made.approvals.sweep();
    expect(await made.ask(PAY)).toMatchObject({ state: 'AUTHORIZED' });
    expect(await made.ask(PAY)).toMatchObject({ failure: { code: 'E3803' } });
  });

  test('ORC-05.5 is over once what expired has ended, however long its row takes', async () => {
    const made = await approvalsOf({ pipeline: { store: slowLedgerStore() } });
    const waiting = await made.ask(PAY);
    made.clock.pass(24 * 3_600_000);
    await made.approvals.sweep();
    expect(await rowOf(made, waiting)).toMatchObject({ state: 'DENIED', failure: { code: 'E3808' } });
  });

  test('ORC-03 passes by what fails, and looks at all the others', async () => {
    const { log, lines } = notingLog();
    const inner = memoryApprovalStore();
    let broken = '';
    const store: ApprovalStore = {
      ...inner,
      claimNotice: async (key, leaseMs) => {
        if (key.approvalId === broken) throw new Error('broken');
        return inner.claimNotice(key, leaseMs);
      },
    };
    const made = await approvalsOf({ approvals: { store, log } });
    const [one, two] = [await made.call(PAY), await made.call(PAY)];
    broken = questionOf(one).approvalId;
    await made.approvals.sweep();
    await made.approvals.idle();
    expect(made.notices.map(({ approvalId }) => approvalId)).toEqual([questionOf(two).approvalId]);
    expect(lines).toEqual(['error approval-not-looked-at {"reason":"broken"}']);
    made.approvals.noticed(one);
    await made.approvals.idle();
    expect(lines.at(-1)).toBe('error approvers-not-notified {"reason":"broken"}');
  });

  test('ORC-03 comes again after one that failed, and not after the end', async () => {
    const { log, lines } = notingLog();
    const inner = memoryApprovalStore();
    let swept = 0;
    const store: ApprovalStore = {
      ...inner,
      unfinished: async () => {
        swept += 1;
        if (swept === 1) throw new Error('away');
        return [];
      },
      prune: async () => 3,
    };
    const made = await approvalsOf({ approvals: { store, log, limits: { sweepMs: 1 } } });
    await made.approvals.start();
    await made.approvals.start();
    await expect.poll(() => swept, { interval: 1 }).toBeGreaterThan(3);
    await made.approvals[Symbol.asyncDispose]();
    expect(lines).toEqual(['error approvals-not-swept {"reason":"away"}', 'info approvals-pruned {"removed":3}']);
  });

  test('ORC-03 says why the standing rules of other instances are not known, as long as that is so', async () => {
    const inner = memoryApprovalStore();
    let reads = 0;
    const changedRules: ApprovalStore['changedRules'] = async (revision) => {
      reads += 1;
      if (reads > 1) throw new Error('away');
      return inner.changedRules(revision);
    };
    const made = await approvalsOf({ approvals: { store: { ...inner, changedRules }, limits: { followMs: 1 } } });
    await made.approvals.start();
    expect([undefined, 'away']).toContain(made.approvals.problem());
    await expect.poll(() => made.approvals.problem(), { interval: 1 }).toBe('away');
    await made.approvals[Symbol.asyncDispose]();
  });

  test('closing waits for the sweep and for what is under way', async () => {
    const inner = memoryApprovalStore();
    const order: string[] = [];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const store: ApprovalStore = {
      ...inner,
      unfinished: async () => {
        order.push('sweeps');
        await released;
        order.push('swept');
        return [];
      },
    };
    const end = Promise.withResolvers<void>();
    const resume = async () => {
      await end.promise;
      await setImmediate();
      order.push('resumed');
    };
    const made = await approvalsOf({ approvals: { store, resume, limits: { sweepMs: 1 } } });
    const { approvalId } = questionOf(await made.ask(PAY));
    await made.approvals.approve({ approvalId, approver: ALICE });
    await made.approvals.start();
    await expect.poll(() => order, { interval: 1 }).toEqual(['sweeps']);
    const closed = made.approvals[Symbol.asyncDispose]().then(() => order.push('closed'));
    await setImmediate();
    expect(order).toEqual(['sweeps']);
    release();
    await setImmediate();
    expect(order).toEqual(['sweeps', 'swept']);
    end.resolve();
    await closed;
    expect(order).toEqual(['sweeps', 'swept', 'resumed', 'closed']);
  });
});
