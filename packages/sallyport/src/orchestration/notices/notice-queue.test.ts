import { expect, test } from 'vitest';
import { silentLog } from '../../telemetry/log.ts';
import { noticeOf } from '../conformance/notifier.conformance.ts';
import type { ApprovalNotice } from '../notifier.port.ts';
import { createNoticeQueue, type NoticeQueueLimits, NoticeRefused } from './notice-queue.ts';

const QUICK: Partial<NoticeQueueLimits> = { pauseMs: 1, pauseMsMax: 2, closeGraceMs: 1_000 };

function queue(notify: (notice: ApprovalNotice) => Promise<void> | void, limits: Partial<NoticeQueueLimits> = {}) {
  const errors: { event: string; fields: Record<string, unknown> | undefined }[] = [];
  const log = {
    ...silentLog,
    error: (event: string, fields?: Record<string, unknown>) => void errors.push({ event, fields }),
  };
  return { errors, made: createNoticeQueue({ name: 'n', notify }, { log, limits: { ...QUICK, ...limits } }) };
}
const notice = (approvalId: string, more: Partial<ApprovalNotice> = {}) => noticeOf({ approvalId, ...more });

test('ORC-03 a receiver that never answers keeps nobody waiting, and holds back no other approval', async () => {
  const said: string[] = [];
  const stuck = (each: ApprovalNotice) =>
    each.approvalId === 'stuck' ? new Promise<void>(() => {}) : void said.push(each.approvalId);
  const { made } = queue(stuck, { closeGraceMs: 0, attemptMs: 60_000 });
  made.notify(notice('stuck'));
  made.notify(notice('a'));
  await expect.poll(() => said).toEqual(['a']);
  await made[Symbol.asyncDispose]();
});

test('what fails is tried again, and notices of one approval keep their order', async () => {
  const said: string[] = [];
  let failures = 2;
  const { made, errors } = queue((each) => {
    if (failures > 0) {
      failures -= 1;
      throw new Error('down');
    }
    said.push(`${each.approvalId} ${each.kind}`);
  });
  made.notify(notice('a'));
  made.notify(notice('a', { kind: 'decided' }));
  await expect.poll(() => said).toEqual(['a asked', 'a decided']);
  expect(errors).toEqual([]);
  await made[Symbol.asyncDispose]();
});

test.each([
  ['a refusal', () => new NoticeRefused('no'), {}, 1],
  ['the last attempt', () => new Error('down'), { attemptsMax: 3 }, 3],
  ['the end of its time', () => new Error('down'), { giveUpMs: 0 }, 1],
])('%s gives it up, which is logged as an error', async (_what, failure, limits, attempts) => {
  let tried = 0;
  const { made, errors } = queue(() => {
    tried += 1;
    throw failure();
  }, limits);
  made.notify(notice('a'));
  await expect
    .poll(() => errors)
    .toMatchObject([{ event: 'approval-notice-given-up', fields: { notifier: 'n', approval_id: 'a', attempts } }]);
  expect(tried).toBe(attempts);
  await made[Symbol.asyncDispose]();
});

test('a full queue drops loudly, and takes notices again once there is room', async () => {
  const gate = Promise.withResolvers<void>();
  const { made, errors } = queue(() => gate.promise, { noticesMax: 2, atOnceMax: 1 });
  made.notify(notice('a'));
  made.notify(notice('b'));
  expect(() => made.notify(notice('c'))).toThrow(/dropped/);
  expect(errors).toMatchObject([{ event: 'approval-notice-dropped', fields: { approval_id: 'c' } }]);
  gate.resolve();
  await expect
    .poll(() => {
      try {
        made.notify(notice('d'));
        return true;
      } catch {
        return false;
      }
    })
    .toBe(true);
  await made[Symbol.asyncDispose]();
});

test('closing sends what has not been tried, says what is left, and takes nothing more', async () => {
  const said: string[] = [];
  const { made, errors } = queue(
    (each) => {
      if (each.approvalId === 'down') throw new Error('down');
      said.push(each.approvalId);
    },
    { pauseMs: 60_000, pauseMsMax: 60_000, atOnceMax: 1 },
  );
  for (const id of ['down', 'a', 'b']) made.notify(notice(id));
  await made[Symbol.asyncDispose]();
  expect(said).toEqual(['a', 'b']);
  expect(errors).toMatchObject([{ event: 'approval-notices-not-sent', fields: { notices: 1 } }]);
  expect(await made.notify(notice('late'))).toBe('left');
  expect(said).toEqual(['a', 'b']);
});

test('ORC-03 whoever gave a notice hears when it was told, given up, or left', async () => {
  const { made } = queue(
    (each) => {
      if (each.approvalId === 'refused') throw new NoticeRefused('no');
      if (each.approvalId === 'down') throw new Error('down');
    },
    { pauseMs: 60_000, pauseMsMax: 60_000 },
  );
  const down = made.notify(notice('down'));
  expect(await Promise.all([made.notify(notice('told')), made.notify(notice('refused'))])).toEqual(['over', 'over']);
  await made[Symbol.asyncDispose]();
  expect(await down).toBe('left');
});
