import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { memoryApprovalStore } from '../../../test/stores/approvals/memory-approval-store.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { ApprovalStore } from '../approval-store.port.ts';
import { noticeText } from '../notices/notice-text.ts';
import type { ApprovalNotice } from '../notifier.port.ts';
import { ALICE, approvalsOf, factsOf, questionOf, rowOf } from './approvals.fixture.ts';

const HOUR = 3_600_000;
const kindsOf = (notices: readonly ApprovalNotice[]) => notices.map(({ kind, level }) => `${kind} ${level}`);

describe('what nobody answers', () => {
  test('ORC-03.10 ORC-03.12 goes to others after one hour and after four, and ends after a day', async () => {
    const made = await approvalsOf();
    const { approvals, clock, notices } = made;
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    for (const passed of [HOUR - 1, 1, 3 * HOUR - 1, 1, 20 * HOUR - 1]) {
      clock.pass(passed);
      await approvals.sweep();
      await approvals.idle();
    }
    expect(kindsOf(notices)).toEqual(['asked 0', 'escalated 1', 'escalated 2']);
    expect(notices.map(({ approvers }) => approvers.map(({ id }) => id))).toEqual([
      ['role:approver'],
      ['role:approver', 'role:admin'],
      ['role:admin'],
    ]);
    clock.pass(1);
    await approvals.sweep();
    await approvals.idle();
    expect(kindsOf(notices).at(-1)).toBe('expired 0');
    expect(await rowOf(made, waiting)).toMatchObject({ state: 'DENIED', failure: { code: 'E3808' } });
    const types = (await factsOf(made, waiting)).map(({ type }) => type);
    expect(types).toEqual(['requested', 'escalated', 'escalated', 'expired']);
    const late = await approvals.approve({ approvalId: questionOf(waiting).approvalId, approver: ALICE });
    expect(late).toMatchObject({ code: 'E3808' });
    expect(made.ran).toEqual([]);
  });

  test('ORC-03.11 goes to whom the rule of its tool names, when it says', async () => {
    const terms = `[[rule]]
tools = ["pa*"]
approvers = ["did:user:alice"]
escalation = [{ after = "10m", approvers = ["did:user:bob"] }, { after = "20m" }, { after = "1h" }]`;
    const made = await approvalsOf({ terms });
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    const notified: unknown[] = [];
    for (const passed of [0, 10, 10, 40]) {
      made.clock.pass(passed * 60_000);
      await made.approvals.sweep();
      await made.approvals.idle();
      notified.push(made.notices.at(-1)?.approvers.map(({ id }) => id));
    }
    expect(notified).toEqual([['did:user:alice'], ['did:user:bob'], ['did:user:bob'], []]);
    expect(await rowOf(made, waiting)).toMatchObject({ failure: { code: 'E3808' } });
  });

  test('expires at once for whoever answers too late, before any sweep', async () => {
    const made = await approvalsOf();
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    made.clock.pass(24 * HOUR);
    const { approvalId } = questionOf(waiting);
    expect(await made.approvals.approve({ approvalId, approver: ALICE })).toMatchObject({ code: 'E3808' });
    await made.approvals.idle();
    expect(await rowOf(made, waiting)).toMatchObject({ failure: { code: 'E3808' } });
  });
});

describe('a clock that jumps', () => {
  test('an hour back neither brings back what expired nor takes back who was notified', async () => {
    const made = await approvalsOf({ terms: '[[rule]]\nexpires_after = "90m"' });
    const [gone, open] = [
      await made.ask({ tool_id: 'pay', parameters: { n: 1 } }),
      await made.ask({ tool_id: 'send', parameters: { n: 2 } }),
    ];
    made.clock.jump(90 * 60_000);
    expect(await made.approvals.deny({ approvalId: questionOf(gone).approvalId, approver: ALICE })).toMatchObject({
      code: 'E3808',
    });
    made.clock.jump(-HOUR);
    const before = made.notices.length;
    await made.approvals.sweep();
    await made.approvals.idle();
    expect(made.notices).toHaveLength(before);
    expect(await made.approvals.approve({ approvalId: questionOf(gone).approvalId, approver: ALICE })).toMatchObject({
      code: 'E3808',
    });
    expect(await made.approvals.approve({ approvalId: questionOf(open).approvalId, approver: ALICE })).toMatchObject({
      state: 'approved',
    });
    await made.approvals.idle();
    expect(made.ran).toEqual([{ tool: 'send', n: 2 }]);
  });

  test('ORC-05.2 an hour forth between the approval and the call: the call asks again', async () => {
    const made = await approvalsOf({ approvals: { limits: { validMs: 60_000 } } });
    let late = true;
    const approvals = made.open({
      resume: async (...given) => {
        if (late) made.clock.jump(HOUR);
        late = false;
        await made.resume(...given);
      },
    });
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    await approvals.approve({ approvalId: questionOf(waiting).approvalId, approver: ALICE });
    await approvals.idle();
    const again = questionOf(await rowOf(made, waiting));
    expect(again.approvalId).not.toBe(questionOf(waiting).approvalId);
    expect(made.ran).toEqual([]);
  });
});

describe('after a crash', () => {
  test('ORC-05 what was decided and not carried out is carried out by another instance, once', async () => {
    const made = await approvalsOf();
    const dead = made.open({ resume: () => new Promise(() => {}) });
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    await dead.approve({ approvalId: questionOf(waiting).approvalId, approver: ALICE });
    for (let turn = 0; turn < 3; turn += 1) {
      // The lease of the dead holder is still in force.
      if (turn === 1) expect(made.ran).toEqual([]);
      await made.approvals.sweep();
      await made.approvals.idle();
      made.clock.pass(30_000);
    }
    expect(made.ran).toEqual([{ tool: 'pay', n: 1 }]);
    expect(await rowOf(made, waiting)).toMatchObject({ state: 'COMPLETED' });
  });

  test('ORC-05.3 an instance that is still at it does not begin a second time, however often it sweeps', async () => {
    const made = await approvalsOf();
    const end = Promise.withResolvers<void>();
    let resumed = 0;
    const slow = made.open({
      resume: async (...given) => {
        resumed += 1;
        await end.promise;
        await made.resume(...given);
      },
    });
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    await slow.approve({ approvalId: questionOf(waiting).approvalId, approver: ALICE });
    for (let turn = 0; turn < 3; turn += 1) await slow.sweep();
    expect(resumed).toBe(1);
    end.resolve();
    await slow.idle();
    expect(await rowOf(made, waiting)).toMatchObject({ state: 'COMPLETED' });
    expect(resumed).toBe(1);
  });

  test('ORC-06 a question that nobody noticed yet is found among the others by any instance', async () => {
    const made = await approvalsOf();
    const rows = [];
    for (const n of [1, 2, 3]) {
      made.clock.pass(1);
      rows.push(await made.call({ tool_id: 'pay', parameters: { n } }));
    }
    const [, second] = rows as [InvocationRecord, InvocationRecord];
    const other = made.open();
    const { approvalId } = questionOf(second);
    expect(await other.approve({ approvalId, approver: ALICE })).toMatchObject({ state: 'approved' });
    await other.idle();
    expect(made.ran).toEqual([{ tool: 'pay', n: 2 }]);
    expect(await other.approve({ approvalId: 'approval:none', approver: ALICE })).toMatchObject({ code: 'E3809' });
  });

  test('ORC-05.4 a question about a version that is gone is still shown, can be denied, and is never approved', async () => {
    const made = await approvalsOf();
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    const { approvalId } = questionOf(waiting);
    const without = made.open({ toolOf: () => undefined });
    expect(await without.find('acme', approvalId)).toMatchObject({ request: { approvalId } });
    expect(await without.approve({ approvalId, approver: ALICE })).toMatchObject({ failed: true });
    expect(await rowOf(made, waiting)).toMatchObject({ state: 'AUTHORIZED' });
    expect(await without.deny({ approvalId, approver: ALICE })).toMatchObject({ state: 'denied' });
    await without.idle();
    expect(await rowOf(made, waiting)).toMatchObject({ state: 'DENIED' });
    expect(made.ran).toEqual([]);
  });

  test('what ended long ago is removed once an hour, and not in every sweep', async () => {
    const made = await approvalsOf();
    const pruned: number[] = [];
    let swept = 0;
    const store: ApprovalStore = {
      ...made.approvalStore,
      async prune(before) {
        pruned.push(before);
        return made.approvalStore.prune(before);
      },
      async unfinished(...given) {
        swept += 1;
        return made.approvalStore.unfinished(...given);
      },
    };
    await using approvals = made.open({ store, limits: { sweepMs: 1 } });
    await approvals.start();
    const sweeps = (more: number) => expect.poll(() => swept, { interval: 1 }).toBeGreaterThan(swept + more);
    await sweeps(4);
    expect(pruned).toEqual([made.clock.now() - 90 * 24 * HOUR]);
    made.clock.pass(HOUR - 1);
    await sweeps(4);
    expect(pruned).toHaveLength(1);
    made.clock.pass(1);
    await sweeps(4);
    expect(pruned).toHaveLength(2);
  });

  test('ORC-06 the next life of the same instance does not wait for the lease of the last one', async () => {
    const made = await approvalsOf();
    const dead = made.open({ instanceId: 'same', resume: () => new Promise(() => {}) });
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    await dead.approve({ approvalId: questionOf(waiting).approvalId, approver: ALICE });
    await using next = made.open({ instanceId: 'same' });
    await made.approvals.sweep();
    await made.approvals.idle();
    expect(made.ran).toEqual([]);
    await next.start();
    await next.sweep();
    await next.idle();
    expect(made.ran).toEqual([{ tool: 'pay', n: 1 }]);
  });

  test('people are notified by whoever finds out that nobody was', async () => {
    const made = await approvalsOf();
    const waiting = await made.call({ tool_id: 'pay', parameters: { n: 1 } });
    await Promise.all([made.approvals.sweep(), made.open().sweep()]);
    await made.approvals.idle();
    expect(made.notices.map(({ approvalId }) => approvalId)).toEqual([questionOf(waiting).approvalId]);
  });

  test('a safe call that was cut off while it ran goes on with the same approval', async () => {
    const made = await approvalsOf();
    await made.add('read', { requires_confirmation: true, side_effect_policy: 'pure' });
    const waiting = await made.ask({ tool_id: 'read', parameters: { n: 1 } });
    const approvals = made.open({ resume: async () => undefined });
    await approvals.approve({ approvalId: questionOf(waiting).approvalId, approver: ALICE });
    await approvals.idle();
    expect(await approvals.givenApproval(waiting)).toBeUndefined();
    const cutOff = { ...waiting, state: 'EXECUTING' as const };
    const given = await approvals.givenApproval(cutOff);
    expect(given).toMatchObject({ approvalId: questionOf(waiting).approvalId });
    made.clock.pass(900_000);
    expect(await approvals.givenApproval(cutOff)).toBeUndefined();
  });
});

describe('notifiers', () => {
  test('one that fails or never ends changes nothing', async () => {
    const notifiers = [
      {
        name: 'broken',
        notify: () => {
          throw new Error('broken');
        },
      },
      { name: 'stuck', notify: () => new Promise<void>(() => {}) },
    ];
    const made = await approvalsOf({ approvals: { notifiers } });
    const waiting = await made.call({ tool_id: 'pay', parameters: { n: 1 } });
    made.approvals.noticed(waiting);
    const { approvalId } = questionOf(waiting);
    expect(await made.approvals.deny({ approvalId, approver: ALICE })).toMatchObject({ state: 'denied' });
    expect(await rowOf(made, waiting)).toMatchObject({ failure: { code: 'E3807' } });
  });

  test('a notice shows arguments only as the layer lets it', async () => {
    const made = await approvalsOf({ approvals: { shownArguments: () => 'x'.repeat(10_000) } });
    await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    expect(made.notices[0]?.argumentsText).toHaveLength(4096);
    expect(made.notices[0]?.argumentsLength).toBe(10_000);
    expect(noticeText(made.notices[0] as ApprovalNotice)).toContain('these are 4096 of 10000 characters');
    const whole = await approvalsOf({ approvals: { shownArguments: () => 'x'.repeat(4096) } });
    await whole.ask({ tool_id: 'pay', parameters: { n: 1 } });
    expect(whole.notices[0]?.argumentsText).toHaveLength(4096);
    expect(whole.notices[0]).not.toHaveProperty('argumentsLength');
    const none = await approvalsOf();
    await none.ask({ tool_id: 'pay', parameters: { n: 1 } });
    expect(none.notices[0]).not.toHaveProperty('argumentsText');
  });
});

test('a tenant whose calls wait in crowds is refused more, and no other tenant is', async () => {
  const made = await approvalsOf({ approvals: { limits: { pendingMax: 2 } } });
  const ask = () => made.ask({ tool_id: 'pay', parameters: { n: 1 } });
  const [first] = [await ask(), await ask()];
  expect(await ask()).toMatchObject({ failure: { code: 'E3803' } });
  await made.approvals.deny({ approvalId: questionOf(first).approvalId, approver: ALICE });
  await made.approvals.sweep();
  expect(await ask()).toMatchObject({ state: 'AUTHORIZED' });
});

describe('a decision that is carried out while the store goes away', () => {
  const away = (): never => {
    throw new ToolLayerError('E3812', 'away');
  };

  test.each(['before its claim is answered', 'before its claim is given back'] as const)(
    'ORC-03 %s is gone on with as soon as the store is back, and not only when the claim has run out',
    async (when) => {
      let isAway = false;
      const inner = memoryApprovalStore();
      const store: ApprovalStore = {
        ...inner,
        async claim(...given) {
          const isMine = await inner.claim(...given);
          return isAway && when === 'before its claim is answered' ? away() : isMine;
        },
        mark: async (...given) => (isAway ? away() : inner.mark(...given)),
        release: async (...given) => (isAway ? away() : inner.release(...given)),
      };
      const made = await approvalsOf({ approvals: { store } });
      const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
      isAway = true;
      const { approvalId } = questionOf(waiting);
      await made.approvals.approve({ approvalId, approver: ALICE });
      await made.approvals.idle();
      expect(made.ran).toEqual([]);
      isAway = false;
      await made.approvals.sweep();
      await made.approvals.idle();
      expect(made.ran).toEqual([{ tool: 'pay', n: 1 }]);
      expect(await store.closing('acme', approvalId)).toMatchObject({ finished: true });
    },
  );
});
