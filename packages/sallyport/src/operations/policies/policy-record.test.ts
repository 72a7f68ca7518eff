import { systemClock } from '@sallyport/std/clock';
import { expect, test } from 'vitest';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import { silentLog } from '../../telemetry/log.ts';
import { createPolicyRecord } from './policy-record.ts';

const reading = { engine: 'cedar', version: 'b', versionBefore: 'a', policies: 3 };

function recorded(commit?: () => Promise<void>) {
  const events: EventDraft[] = [];
  const lines: string[] = [];
  const log = { ...silentLog, error: (event: string) => void lines.push(event) };
  const record = createPolicyRecord({ clock: systemClock, log, tenantId: 'default' });
  const ledger = {
    commit: async (entry: { readonly events: readonly EventDraft[] }) => {
      await commit?.();
      events.push(...entry.events);
    },
  };
  return { record, ledger, events, lines };
}

test('AUD-01 what changed before there was a ledger is on record once there is one', async () => {
  const { record, ledger, events } = recorded();
  await record.news.notTaken(reading, { message: 'line 1: no', file: 'a.cedar', line: 1 });
  expect(events).toEqual([]);
  await record.recordIn(ledger);
  await record.news.inForce({ ...reading, by: { agentDid: 'did:a', door: 'rest' } });
  const shared = { engine: 'cedar', version: 'b', version_before: 'a', policies: 3, tenant_id: 'default' };
  expect(events.map(({ type, subject, tenantId, data }) => [type, subject, tenantId, data])).toEqual([
    [
      'ai.agent.policy.changed',
      'cedar',
      'default',
      { change: 'kept-out', by: 'did:sallyport:layer', reason: 'line 1: no', file: 'a.cedar', line: 1, ...shared },
    ],
    ['ai.agent.policy.changed', 'cedar', 'default', { change: 'in-force', by: 'did:a', door: 'rest', ...shared }],
  ]);
});

test('a ledger that fails keeps no policies from being in force, and is told in the log', async () => {
  const { record, ledger, lines } = recorded(() => Promise.reject(new Error('down')));
  await record.recordIn(ledger);
  await record.news.inForce(reading);
  expect(lines).toEqual(['policies-not-recorded']);
});
