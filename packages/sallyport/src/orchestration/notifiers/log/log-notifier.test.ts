import { expect, test } from 'vitest';
import type { Log } from '../../../telemetry/log.ts';
import { noticeOf, notifierConformance } from '../../conformance/notifier.conformance.ts';
import { createLogNotifier } from './log-notifier.ts';

async function open() {
  const lines: string[] = [];
  const at = (severity: string) => (event: string, fields?: Record<string, unknown>) =>
    void lines.push(JSON.stringify({ severity, event, ...fields }));
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { notifier: createLogNotifier(log), said: () => lines, close: async () => undefined };
}

notifierConformance(test, 'log', open, { notifiesApproverAlone: false, showsCalls: false });

test('what waits is a warning, what is over is not', async () => {
  const { notifier, said } = await open();
  await notifier.notify(noticeOf({ kind: 'escalated', level: 1 }));
  await notifier.notify(noticeOf({ kind: 'decided', decision: { outcome: 'approved', by: 'u', reason: 'private' } }));
  expect(said().map((line) => JSON.parse(line))).toMatchObject([
    {
      severity: 'warn',
      event: 'approval-escalated',
      escalation: 1,
      approvers: ['mailto:ops@example.com', 'role:approver'],
      tenant_id: 'acme',
      approval_id: 'approval-1',
      invocation_id: 'call-1',
      tool_id: 'mail__send',
      tool_version: '1.2.3',
      agent_did: 'did:agent:a',
      reason: 'requires_approval',
      expires_at: new Date(noticeOf().expiresAt).toISOString(),
    },
    { severity: 'info', event: 'approval-decided', outcome: 'approved' },
  ]);
  expect(said().join()).not.toContain('private');
});
