import { deepEqual, equal, ok } from 'node:assert/strict';
import type { TestCase } from '@sallyport/std/adapter-cases';
import type { ApprovalNotice, Notifier } from '../notifier.port.ts';

/** A secret that notices of the suite carry for one approver. */
export const ANSWER_TOKEN = 'spa_0123456789abcdefghij';

/** A notice with the members that a case names. */
export function noticeOf(more: Partial<ApprovalNotice> = {}): ApprovalNotice {
  return {
    kind: 'asked',
    tenantId: 'acme',
    approvalId: 'approval-1',
    invocationId: 'call-1',
    toolId: 'mail__send',
    toolVersion: '1.2.3',
    agentDid: 'did:agent:a',
    sideEffect: 'irreversible',
    reason: 'requires_approval',
    question: 'It is odd (by-rule).',
    prompt: 'Send it?',
    argumentsText: '{"to":"[REDACTED:email]"}',
    bindingDigest: 'd1'.repeat(32),
    requestedAt: 1_790_000_000_000,
    expiresAt: 1_790_000_900_000,
    level: 0,
    approvers: [{ id: 'mailto:ops@example.com', answerToken: ANSWER_TOKEN }, { id: 'role:approver' }],
    ...more,
  };
}

/** An opened notifier, and the messages that its receiver got. */
export interface OpenedNotifier {
  readonly notifier: Notifier;
  /** All output so far, one text for each message. */
  said(): readonly string[];
  close(): Promise<void>;
}

/** Features in which adapters differ. */
export interface NotifierSupports {
  /**
   * True when each approver is notified separately and gets their answer token that way. Otherwise no token is sent.
   */
  readonly notifiesApproverAlone: boolean;
  /** True when it shows prompts and arguments. */
  readonly showsCalls: boolean;
}

/** Requirements of every Notifier. */
export function notifierConformance(
  test: TestCase,
  adapter: string,
  open: () => Promise<OpenedNotifier>,
  { notifiesApproverAlone, showsCalls }: NotifierSupports,
): void {
  const check = (name: string, run: (opened: OpenedNotifier) => Promise<void>): void =>
    test(`${name} (${adapter})`, async () => {
      const opened = await open();
      try {
        await run(opened);
      } finally {
        await opened.close();
      }
    });

  check(
    'ORC-03 a question names its approval, tool and agent, once for each person notified',
    async ({ notifier, said }) => {
      await notifier.notify(noticeOf());
      equal(said().length, 1);
      for (const part of ['approval-1', 'mail__send', '1.2.3', 'did:agent:a']) ok(said()[0]?.includes(part), part);
      for (const part of ['It is odd (by-rule).', 'Send it?', '[REDACTED:email]'])
        equal(said()[0]?.includes(part), showsCalls, part);
    },
  );

  check('ORC-03 an answer token goes to its approver alone', async ({ notifier, said }) => {
    const other = 'spa_othersothersothersother';
    const approvers = [...noticeOf().approvers, { id: 'mailto:b@example.com', answerToken: other }];
    await notifier.notify(noticeOf({ approvers }));
    const tokens = said().map((text) => [text.includes(ANSWER_TOKEN), text.includes(other)]);
    deepEqual(
      tokens,
      notifiesApproverAlone
        ? [
            [true, false],
            [false, true],
          ]
        : [[false, false]],
    );
  });

  check('ORC-05 an expiry is not reported as a denial', async ({ notifier, said }) => {
    const decision = { outcome: 'expired', by: 'layer' } as const;
    await notifier.notify(noticeOf({ kind: 'expired', decision }));
    const text = said().join('\n').toLowerCase();
    ok(text.includes('expired'));
    ok(!text.includes('denied'));
  });

  check('a decision is reported with who made it', async ({ notifier, said }) => {
    const decision = { outcome: 'denied', by: 'did:user:u', reason: 'Too late.' } as const;
    await notifier.notify(noticeOf({ kind: 'decided', decision }));
    const text = said().join('\n');
    for (const part of ['denied', 'did:user:u', 'approval-1']) ok(text.includes(part), part);
  });

  check('foreign text stays what it is: it moves no cursor and makes no line', async ({ notifier, said }) => {
    const hostile = 'x\r\nBcc: evil@example.com\r\n\r\n\u001b[2Japproved\u202e';
    await notifier.notify(
      noticeOf({ toolId: hostile, agentDid: hostile, question: hostile, prompt: hostile, argumentsText: hostile }),
    );
    equal(said().length, 1);
    for (const text of said()) {
      ok(!/^Bcc:/m.test(text), 'a header of its own');
      ok(!text.includes('\u001b') && !text.includes('\u202e'), 'hidden characters');
    }
  });

  check('very long text is cut', async ({ notifier, said }) => {
    const long = 'y'.repeat(1_000_000);
    await notifier.notify(noticeOf({ toolId: long, question: long, prompt: long, argumentsText: long }));
    ok(said().join('').length < 32_000);
  });
}
