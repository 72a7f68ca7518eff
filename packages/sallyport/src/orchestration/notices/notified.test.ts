import { expect, test } from 'vitest';
import { silentLog } from '../../telemetry/log.ts';
import { ALICE, approvalsOf, questionOf } from '../approvals/approvals.fixture.ts';
import type { ApprovalNotice, NoticeEnd, Notifier } from '../notifier.port.ts';
import { createNoticeQueue } from './notice-queue.ts';

/** Longer than any claim lasts, ms. */
const AFTER_MS = 60_000;

/** A notifier that records its notices; the test decides when and how each notice ends. */
function slow() {
  const notified: string[] = [];
  const ends: ((end: NoticeEnd) => void)[] = [];
  const notifier: Notifier = {
    name: 'slow',
    notify({ kind }: ApprovalNotice): Promise<NoticeEnd> {
      notified.push(kind);
      return new Promise((resolve) => ends.push(resolve));
    },
  };
  return { notified, ends, notifier };
}

async function asked() {
  const first = slow();
  const made = await approvalsOf({ approvals: { notifiers: [first.notifier] } });
  const waiting = await made.call({ tool_id: 'pay', parameters: { n: 1 } });
  made.approvals.noticed(waiting);
  await expect.poll(() => first.notified).toEqual(['asked']);
  /** Opens another instance, or the same instance after a restart. */
  const next = () => {
    const notices: string[] = [];
    const approvals = made.open({ notifiers: [{ name: 'next', notify: ({ kind }) => void notices.push(kind) }] });
    return { approvals, notices };
  };
  return { ...made, first, waiting, next };
}

test('ORC-03 a notice that was on its way when its instance was killed is sent again, by whoever looks next', async () => {
  const { clock, next } = await asked();
  const { approvals, notices } = next();
  await approvals.sweep();
  expect(notices).toEqual([]);
  clock.pass(AFTER_MS);
  await approvals.sweep();
  await approvals.idle();
  expect(notices).toEqual(['asked']);
  clock.pass(AFTER_MS);
  await approvals.sweep();
  expect(notices).toEqual(['asked']);
});

test('ORC-03 so is one that was left because the layer stopped', async () => {
  const { clock, first, next, approvals: one } = await asked();
  first.ends[0]?.('left');
  await one.idle();
  const { approvals, notices } = next();
  clock.pass(AFTER_MS);
  await approvals.sweep();
  await approvals.idle();
  expect(notices).toEqual(['asked']);
});

test('ORC-03 ORC-06 so is one of a call that came to wait when the notifiers had stopped already', async () => {
  const queue = createNoticeQueue({ name: 'n', notify: async () => undefined }, { log: silentLog });
  await queue[Symbol.asyncDispose]();
  const made = await approvalsOf({ approvals: { notifiers: [queue] } });
  await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
  const notices: string[] = [];
  const next = made.open({ notifiers: [{ name: 'next', notify: ({ kind }) => void notices.push(kind) }] });
  made.clock.pass(AFTER_MS);
  await next.sweep();
  await next.idle();
  expect(notices).toEqual(['asked']);
});

test('ORC-03 a notice that came to its end is not sent again', async () => {
  const { clock, first, next, approvals: one } = await asked();
  first.ends[0]?.('over');
  await one.idle();
  const { approvals, notices } = next();
  clock.pass(AFTER_MS);
  await approvals.sweep();
  expect(notices).toEqual([]);
});

test('ORC-03 what became of an approval is notified again too, until people were notified', async () => {
  const { approvalStore, clock, first, waiting, next, approvals: one } = await asked();
  const { approvalId } = questionOf(waiting);
  await one.deny({ approvalId, approver: ALICE });
  expect(first.notified).toEqual(['asked', 'decided']);
  expect(await approvalStore.closing('acme', approvalId)).toMatchObject({ noted: true, finished: false });
  clock.pass(AFTER_MS);
  const { approvals, notices } = next();
  await approvals.sweep();
  await approvals.idle();
  expect(notices).toEqual(['decided']);
  expect(await approvalStore.closing('acme', approvalId)).toMatchObject({ finished: true });
  clock.pass(AFTER_MS);
  await approvals.sweep();
  await approvals.idle();
  expect(notices).toEqual(['decided']);
});

test('a decision is finished at once when people are notified at once', async () => {
  const made = await approvalsOf();
  const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
  const { approvalId } = questionOf(waiting);
  await made.approvals.deny({ approvalId, approver: ALICE });
  await made.approvals.idle();
  expect(made.notices.map(({ kind }) => kind)).toEqual(['asked', 'decided']);
  expect(await made.approvalStore.closing('acme', approvalId)).toMatchObject({ finished: true });
});
