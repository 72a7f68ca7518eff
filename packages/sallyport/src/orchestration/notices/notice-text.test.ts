import { KiB } from '@sallyport/std/bytes';
import { expect, test } from 'vitest';
import { notingLog } from '../approvals/approvals.fixture.ts';
import { noticeOf } from '../conformance/notifier.conformance.ts';
import type { ApprovalNotice } from '../notifier.port.ts';
import { createNoticeQueue, type NoticeQueueLimits } from './notice-queue.ts';
import { noticeSubject, noticeText, visibleNotice } from './notice-text.ts';

/** A notice with no member that may be absent. */
function bare(more: Partial<ApprovalNotice> = {}): ApprovalNotice {
  const { sideEffect: _effect, question: _question, prompt: _prompt, argumentsText: _text, ...rest } = noticeOf();
  return { ...rest, ...more };
}

test('ORC-03 the text of a question says all that an approver needs, line by line', () => {
  expect(noticeText(noticeOf({ userDid: 'did:user:u', argumentsText: '{\n "n": 1\n}' }))).toBe(
    `Approval asked: mail__send for did:agent:a
  approval: approval-1
  call: call-1 of tenant acme
  tool: mail__send 1.2.3 (irreversible)
  agent: did:agent:a for did:user:u
  because: its tool runs with an approval only
  question: It is odd (by-rule).
  the tool says: Send it?
  arguments: {
     "n": 1
    }
  may answer: mailto:ops@example.com, role:approver
  until: ${new Date(noticeOf().expiresAt).toISOString()}
  bound to: ${'d1'.repeat(32)}
  answer: sallyport approvals approve|deny approval-1`,
  );
  const escalated = noticeText(bare({ kind: 'escalated', level: 2 }));
  expect(escalated).toMatch(/^Approval still open: mail__send for did:agent:a\n/);
  expect(escalated).toContain('\n  tool: mail__send 1.2.3\n  agent: did:agent:a\n  because: ');
  expect(escalated).toContain('\n  escalation: 2\n  may answer: ');
});

test('ORC-03 the text of an end says how it ended, by whom and why, and asks for no answer', () => {
  const decision = { outcome: 'denied', by: 'did:user:bob', reason: 'too much' } as const;
  expect(noticeText(bare({ kind: 'decided', decision, approvers: [] }))).toBe(
    `Approval denied: mail__send for did:agent:a
  approval: approval-1
  call: call-1 of tenant acme
  tool: mail__send 1.2.3
  agent: did:agent:a
  because: its tool runs with an approval only
  outcome: denied, by did:user:bob
  reason given: too much`,
  );
  const expired = bare({ kind: 'expired', decision: { outcome: 'expired', by: 'layer' } });
  expect(noticeSubject(expired)).toBe('Approval expired: mail__send for did:agent:a');
  expect(noticeText(expired)).not.toContain('reason given');
  expect(noticeSubject(bare({ kind: 'decided' }))).toBe('Approval decided: mail__send for did:agent:a');
});

test('ORC-03 what a notice shows is cut and says so, and nothing that was absent is there', () => {
  const many = Array.from({ length: 21 }, (_, n) => ({ id: `did:user:${n}` }));
  expect(noticeText(bare({ approvers: many }))).toContain('did:user:19 and 1 more\n');
  expect(noticeText(bare({ approvers: many.slice(1) }))).toContain('did:user:20\n');
  const cut = (argumentsLength?: number) =>
    visibleNotice(bare({ argumentsText: 'abc', ...(argumentsLength === undefined ? {} : { argumentsLength }) }))
      .argumentsText;
  expect([cut(), cut(3)]).toEqual(['abc', 'abc']);
  expect(cut(4)).toBe('abc… (cut: these are 3 of 4 characters; look at the approval for all of them)');
  expect(Object.keys(visibleNotice(bare()))).toEqual(Object.keys(bare()));
  const long = 'x'.repeat(5 * KiB);
  const seen = visibleNotice(
    noticeOf({
      toolId: long,
      toolVersion: long,
      agentDid: `a\nb${long}`,
      userDid: long,
      question: long,
      prompt: `a\nb${long}`,
      argumentsText: long,
      decision: { outcome: 'denied', by: long, reason: long },
    }),
  );
  const sizes = [seen.toolId, seen.toolVersion, seen.agentDid, seen.userDid, seen.decision?.by].map(
    (text) => text?.length ?? 0,
  );
  expect(Math.max(...sizes)).toBeLessThan(300);
  for (const text of [seen.question, seen.prompt, seen.decision?.reason]) expect(text?.length).toBeLessThan(2.1 * KiB);
  expect(seen.argumentsText?.length).toBeLessThan(4.1 * KiB);
  for (const text of [seen.agentDid, seen.prompt]) expect(text).not.toContain('\n');
});

/** A queue in front of a notifier that the test lets end. */
function queue(limits: Partial<NoticeQueueLimits>, notify: (notice: ApprovalNotice) => Promise<void>) {
  const { log, lines } = notingLog();
  return { lines, made: createNoticeQueue({ name: 'n', notify }, { log, limits }) };
}

test('ORC-03 a queue that closes waits for what runs and for what was never tried, and gives the rest back', async () => {
  const gate = Promise.withResolvers<void>();
  const tried: string[] = [];
  const { lines, made } = queue({ atOnceMax: 1, pauseMs: 60_000 }, async ({ approvalId }) => {
    tried.push(approvalId);
    if (approvalId === 'fails') throw new Error('down');
    await gate.promise;
  });
  const [fails, runs, waits] = ['fails', 'runs', 'waits'].map((approvalId) => made.notify(noticeOf({ approvalId })));
  await expect.poll(() => tried, { interval: 1 }).toEqual(['fails', 'runs']);
  const closed = made[Symbol.asyncDispose]();
  gate.resolve();
  await closed;
  expect(tried).toEqual(['fails', 'runs', 'waits']);
  expect(await Promise.all([fails, runs, waits])).toEqual(['left', 'over', 'over']);
  const [again, left] = lines;
  expect(again).toMatch(/^warn approval-notice-tried-again .*"attempts":1,"reason":"down","pause_ms":\d+/);
  const pause = Number(/"pause_ms":(\d+)/.exec(again ?? '')?.[1]);
  expect(pause).toBeGreaterThanOrEqual(30_000);
  expect(pause).toBeLessThanOrEqual(60_000);
  expect(left).toBe('error approval-notices-not-sent {"notifier":"n","notices":1}');
  expect(await made.notify(noticeOf())).toBe('left');
});

test('ORC-03 pauses double up to their limit, and a notice is given up when its time is over before its attempts are', async () => {
  let tried = 0;
  const { lines, made } = queue({ pauseMs: 4, pauseMsMax: 8, attemptsMax: 4 }, async () => {
    tried += 1;
    throw new Error(`down ${tried}`);
  });
  expect(await made.notify(noticeOf())).toBe('over');
  const pauses = lines.map((line) => Number(/"pause_ms":(\d+)/.exec(line)?.[1] ?? -1));
  expect(pauses).toHaveLength(4);
  for (const [at, [least, most]] of [
    [2, 4],
    [4, 8],
    [4, 8],
  ].entries()) {
    expect(pauses[at]).toBeGreaterThanOrEqual(least ?? 0);
    expect(pauses[at]).toBeLessThanOrEqual(most ?? 0);
  }
  expect(lines.at(-1)).toMatch(/^error approval-notice-given-up .*"attempts":4,"reason":"down 4"/);
  await made[Symbol.asyncDispose]();
  expect(lines).toHaveLength(4);
});

test('ORC-03 an attempt that takes too long counts as failed, and no more are under way at once than allowed', async () => {
  let underWay = 0;
  let most = 0;
  const { lines, made } = queue({ atOnceMax: 2, attemptMs: 5, attemptsMax: 1 }, async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, 15));
    underWay -= 1;
  });
  const ends = ['a', 'b'].map((approvalId) => made.notify(noticeOf({ approvalId })));
  expect(await Promise.all(ends)).toEqual(['over', 'over']);
  expect(most).toBe(2);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('"reason":"It took longer than 5 ms."');
  await made[Symbol.asyncDispose]();
});
