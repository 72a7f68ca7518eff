import { systemClock } from '@sallyport/std/clock';
import { failure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import { silentLog } from '../../telemetry/log.ts';
import { createRefusedAsks, type RefusedAsk } from './refused-asks.ts';

const ask = (operation: string, agentDid = 'did:a', tenantId = 'acme'): RefusedAsk => ({
  operation,
  principal: { tenantId, agentDid, roles: ['agent'] },
  caller: { door: 'rest' },
  refused: failure('E3213', 'No.', { details: { roles: ['operator'] } }),
});

function recorded() {
  const written: Record<string, unknown>[] = [];
  const commit = async ({ events }: { readonly events: readonly EventDraft[] }) => {
    for (const { data } of events) written.push(data);
  };
  return { written, asks: createRefusedAsks({ ledger: { commit }, clock: systemClock, log: silentLog }) };
}

test('PRM-10 the first refusal is on record at once, with who, what and which role; the next ones are counted', async () => {
  const { asks, written } = recorded();
  for (let at = 0; at < 5; at += 1) await asks.note(ask('tools.register'));
  await asks.note(ask('tools.register', 'did:b'));
  expect(written).toHaveLength(2);
  expect(written[0]).toEqual({
    agent_did: 'did:a',
    door: 'rest',
    e_code: 'E3213',
    operation: 'tools.register',
    roles: ['agent'],
    roles_needed: ['operator'],
    tenant_id: 'acme',
  });
  await asks.close();
  expect(written.slice(2)).toMatchObject([{ agent_did: 'did:a', operation: 'tools.register', repeated: 4 }]);
  await asks.note(ask('tools.register'));
  expect(written).toHaveLength(4);
  await asks.close();
  expect(written).toHaveLength(4);
});

test('PRM-10 a guesser fills no audit: beyond a hundred kinds a tenant is counted as one, and no other tenant with it', async () => {
  const { asks, written } = recorded();
  for (let at = 0; at < 1000; at += 1) await asks.note(ask(`operation-${at}`));
  expect(written).toHaveLength(101);
  expect(written.at(-1)).toMatchObject({ operation: '*' });
  await asks.note(ask('tools.register', 'did:a', 'other'));
  expect(written.at(-1)).toMatchObject({ operation: 'tools.register', tenant_id: 'other' });
  await asks.close();
  expect(written.slice(102)).toMatchObject([{ operation: '*', repeated: 899 }]);
});

test('a ledger that fails does not turn a refusal into something else', async () => {
  const commit = () => Promise.reject(new Error('down'));
  const asks = createRefusedAsks({ ledger: { commit }, clock: systemClock, log: silentLog });
  await asks.note(ask('tools.register'));
  await asks.close();
});
