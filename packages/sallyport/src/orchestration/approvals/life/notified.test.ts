import { setImmediate } from 'node:timers/promises';
import { sha256 } from '@sallyport/std/sha256';
import { expect, test, vi } from 'vitest';
import { memoryApprovalStore } from '../../../../test/stores/approvals/memory-approval-store.ts';
import type { Ledger } from '../../../audit/ledger.ts';
import type { WaitingQuery } from '../../../audit/ledger-store.port.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import type { ApprovalStore } from '../../approval-store.port.ts';
import type { Notifier } from '../../notifier.port.ts';
import {
  ALICE,
  type ApprovalsUnderTest,
  approvalEvents,
  approvalsOf,
  notingLog,
  questionOf,
} from '../approvals.fixture.ts';

const HOUR = 3_600_000;
const PAY = { tool_id: 'pay', parameters: { n: 1 } };

/** Approvals over the row of one call with another question in it. */
async function withQuestion(made: ApprovalsUnderTest, more: object): Promise<InvocationRecord> {
  const record = await made.call(PAY);
  const approval = questionOf(record);
  const { waiting } = record;
  if (waiting === undefined) throw new Error('the call does not wait');
  const changed = { ...approval, ...more, binding: { ...approval.binding, question: 'It is odd (by-rule).' } };
  const row = { ...record, waiting: { ...waiting, wait: { for: 'approval', approval: changed } as const } };
  await made.parts.ledger.commit({ record: row, events: [], durability: 'synchronous' });
  return row;
}

test('ORC-03 a notice shows what the executor asks, and only a name that is an address gets a token to answer with', async () => {
  const names = ['ops', 'role:admin', 'did:user:x', 'mailto:ops@example.com'];
  const made = await approvalsOf({ terms: `[[rule]]\napprovers = ${JSON.stringify(names)}` });
  await withQuestion(made, { reason: 'executor' });
  await made.approvals.sweep();
  await made.approvals.idle();
  expect(made.notices).toMatchObject([{ reason: 'executor', question: 'It is odd (by-rule).' }]);
  const withToken = made.notices[0]?.approvers.filter(({ answerToken }) => answerToken !== undefined);
  expect(withToken?.map(({ id }) => id)).toEqual(['mailto:ops@example.com']);
});

test('ORC-03.5 an answer by link is possible from the moment at which the notice is sent', async () => {
  const inner = memoryApprovalStore();
  const addLink: ApprovalStore['addLink'] = async (link) => {
    await setImmediate();
    await inner.addLink(link);
  };
  const known: Promise<unknown>[] = [];
  const notify: Notifier['notify'] = ({ approvers }) =>
    void known.push(inner.link(sha256(approvers[0]?.answerToken ?? '')));
  const made = await approvalsOf({
    terms: '[[rule]]\napprovers = ["mailto:ops"]',
    approvals: { store: { ...inner, addLink }, notifiers: [{ name: 'fast', notify }] },
  });
  await made.ask(PAY);
  expect(await Promise.all(known)).toMatchObject([{ approver: 'mailto:ops' }]);
});

test('ORC-03 nobody is notified of an escalation while the first notice is still with another instance', async () => {
  const made = await approvalsOf();
  const waiting = await made.call(PAY);
  const { approvalId } = questionOf(waiting);
  made.clock.pass(HOUR);
  const { invocationId } = waiting;
  await made.approvalStore.claimNotice({ tenantId: 'acme', approvalId, invocationId, level: 0 }, 30_000);
  await made.approvals.sweep();
  await made.approvals.idle();
  expect(made.notices).toEqual([]);
  made.clock.pass(30_000);
  await made.approvals.sweep();
  await made.approvals.idle();
  expect(made.notices.map(({ kind, level }) => [kind, level])).toEqual([
    ['asked', 0],
    ['escalated', 1],
  ]);
});

test('ORC-03 an escalation that another instance sends is sent by this one when that one does not', async () => {
  const made = await approvalsOf();
  const { approvalId } = questionOf(await made.ask(PAY));
  made.clock.pass(HOUR);
  const [pending] = await made.approvals.pending('acme', 1, 0);
  const invocationId = pending?.record.invocationId ?? '';
  await made.approvalStore.claimNotice({ tenantId: 'acme', approvalId, invocationId, level: 1 }, 30_000);
  const levels = async () => {
    await made.approvals.sweep();
    await made.approvals.idle();
    return made.notices.map(({ level }) => level);
  };
  expect(await levels()).toEqual([0]);
  made.clock.pass(30_000);
  expect(await levels()).toEqual([0, 1]);
  expect(await levels()).toEqual([0, 1]);
});

test('ORC-03 without a notifier the question is on record all the same, and no other instance asks again', async () => {
  const made = await approvalsOf({ approvals: { notifiers: [] } });
  const waiting = await made.ask(PAY);
  const { approvalId } = questionOf(waiting);
  const notices: string[] = [];
  const other = made.open({ notifiers: [{ name: 'other', notify: ({ kind }) => void notices.push(kind) }] });
  await other.sweep();
  await other.idle();
  expect(notices).toEqual([]);
  await made.approvals.deny({ approvalId, approver: ALICE });
  await made.approvals.idle();
  expect((await approvalEvents(made, waiting)).map(({ type }) => type)).toEqual([
    'ai.agent.approval.requested',
    'ai.agent.approval.decided',
  ]);
  expect(await made.approvalStore.closing('acme', approvalId)).toMatchObject({ finished: true });
});

test('ORC-03 a notifier that fails is logged by name, and the others deliver theirs', async () => {
  const { log, lines } = notingLog();
  const kinds: string[] = [];
  const notifiers: Notifier[] = [
    { name: 'rejects', notify: () => Promise.reject<void>(new Error('no way')) },
    {
      name: 'throws',
      notify: () => {
        throw 'odd';
      },
    },
    { name: 'works', notify: ({ kind }) => void kinds.push(kind) },
  ];
  const made = await approvalsOf({ approvals: { notifiers, log } });
  const { approvalId } = questionOf(await made.ask(PAY));
  const failed = (notifier: string, reason: string) =>
    `error approval-notice-failed ${JSON.stringify({ notifier, approval_id: approvalId, reason })}`;
  expect(lines.toSorted()).toEqual([failed('rejects', 'no way'), failed('throws', 'odd')]);
  expect(kinds).toEqual(['asked']);
  // It counts as delivered: nobody is asked twice because one channel is broken.
  await made.open().sweep();
  expect(made.notices).toEqual([]);
});

test('ORC-03 a notifier that takes longer than twenty minutes counts as failed', async () => {
  const { log, lines } = notingLog();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const begun = Promise.withResolvers<void>();
    const notify = () => {
      begun.resolve();
      return new Promise<void>(() => {});
    };
    const made = await approvalsOf({ approvals: { notifiers: [{ name: 'stuck', notify }], log } });
    const waiting = await made.call(PAY);
    made.approvals.noticed(waiting);
    const { approvalId } = questionOf(waiting);
    await begun.promise;
    await vi.advanceTimersByTimeAsync(20 * 60_000 - 1);
    expect(lines).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await made.approvals.idle();
    const reason = 'it took longer than 1200000 ms';
    expect(lines).toEqual([
      `error approval-notice-failed ${JSON.stringify({ notifier: 'stuck', approval_id: approvalId, reason })}`,
    ]);
  } finally {
    vi.useRealTimers();
  }
});

test('ORC-03 a notice on its way is claimed again and again, so that no other instance sends it too', async () => {
  const { log, lines } = notingLog();
  const inner = memoryApprovalStore();
  let claims = 0;
  const store: ApprovalStore = {
    ...inner,
    async claimNotice(...given) {
      claims += 1;
      if (claims === 2) throw new Error('away');
      return inner.claimNotice(...given);
    },
  };
  const end = Promise.withResolvers<'over'>();
  const notifiers: Notifier[] = [{ name: 'slow', notify: () => end.promise }];
  const made = await approvalsOf({ approvals: { notifiers, store, log, limits: { leaseMs: 3 } } });
  const waiting = await made.call(PAY);
  made.approvals.noticed(waiting);
  await expect.poll(() => claims, { interval: 1 }).toBeGreaterThan(3);
  const { approvalId } = questionOf(waiting);
  const key = { tenantId: 'acme', approvalId, invocationId: waiting.invocationId, level: 0 };
  expect(await inner.claimNotice(key, 30_000)).toBe('busy');
  end.resolve('over');
  await made.approvals.idle();
  expect(await inner.claimNotice(key, 0)).toBe('notified');
  expect(lines).toEqual([
    `warn approval-notice-not-kept ${JSON.stringify({ approval_id: approvalId, reason: 'Error: away' })}`,
  ]);
});

test('ORC-03 so many notices are in delivery at once; the others are sent when there is room, decisions too', async () => {
  const sent: string[] = [];
  const ends: (() => void)[] = [];
  const notify: Notifier['notify'] = ({ approvalId }) => {
    sent.push(approvalId);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const made = await approvalsOf();
  const waiting = await made.call(PAY);
  const { wait } = waiting.waiting ?? {};
  if (wait?.for !== 'approval') throw new Error('the call waits for no approval');
  // Copies of one row, each with a question of its own.
  const rows = Array.from({ length: 2001 }, (_, n) => ({
    ...waiting,
    invocationId: `call-${n}`,
    waiting: { ...waiting.waiting, wait: { ...wait, approval: { ...wait.approval, approvalId: `${n}` } } },
  })) as InvocationRecord[];
  const records = {
    waitingCalls: async ({ after, limit }: WaitingQuery) => {
      const from =
        after === undefined ? 0 : rows.findIndex(({ invocationId }) => invocationId === after.invocationId) + 1;
      return rows.slice(from, from + limit);
    },
    findInvocation: async (_tenant: string, id: string) => rows.find(({ invocationId }) => invocationId === id),
  };
  const ledger: Pick<Ledger, 'commit'> = {
    commit: async ({ record }) => {
      const at = rows.findIndex(({ invocationId }) => invocationId === record?.invocationId);
      if (record !== undefined) rows[at] = record;
    },
  };
  const approvals = made.open({ records, ledger, notifiers: [{ name: 'slow', notify }] });
  await approvals.sweep();
  expect(sent).toHaveLength(2000);
  expect(new Set(sent).size).toBe(2000);
  expect(await approvals.find('acme', '2000')).toMatchObject({ request: { approvalId: '2000' } });
  expect(await approvals.pending('acme', 3000, 0)).toHaveLength(2001);
  await approvals.deny({ approvalId: '0', approver: ALICE });
  expect(await made.approvalStore.closing('acme', '0')).toMatchObject({ noted: true, finished: false });
  expect(sent).toHaveLength(2000);
  for (const end of ends.splice(0)) end();
  await setImmediate();
  await approvals.sweep();
  await expect.poll(() => sent.slice(2000).toSorted(), { interval: 1 }).toEqual(['0', '2000']);
  for (const end of ends) end();
  await approvals.idle();
});
