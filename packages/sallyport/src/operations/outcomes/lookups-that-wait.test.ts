import { failure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryOutcomeStore } from '../../../test/stores/outcomes/memory-outcome-store.ts';
import { ALICE, approvalsOf, questionOf } from '../../orchestration/approvals/approvals.fixture.ts';
import { verifyInvocation } from '../invocations/verify-invocation.ts';
import type { Asker } from '../operation.ts';
import { reconcileOutcome } from './reconcile-outcome.ts';

/** A layer with a pure tool that a person has to approve. */
async function layer() {
  const store = memoryLedgerStore();
  const made = await approvalsOf({ pipeline: { store, outcomes: memoryOutcomeStore(store) } });
  await made.add('look', { side_effect_policy: 'pure', execution_config: { requires_approval: true } });
  const caller = { door: 'library', token: await made.token() } as const;
  const asker: Asker = { principal: { tenantId: 'acme', agentDid: 'did:agent:a', roles: ['operator'] }, caller };
  return { ...made, asker, operationParts: { ...made.parts, runCall: made.run, sideEffects: {} as never } };
}

const waiting = { code: 'E3901', message: expect.stringMatching(/of look waits/) };

test('PIPE-13.5 a tool that a person has to approve first says nothing yet, and is not said to know nothing', async () => {
  const { call, asker, operationParts, parts } = await layer();
  const done = await call({ tool_id: 'plain', parameters: { n: 1 } });
  const invocationId = 'cut-off';
  const record = { ...done, invocationId, state: 'ABORTED', failure: failure('E3804', 'Nobody knows.') } as const;
  await parts.ledger.commit({ record, events: [], durability: 'synchronous' });
  const request = { invocation_id: invocationId, tool_id: 'look', parameters: { n: 1 } };
  expect(await reconcileOutcome.run(operationParts)(request, asker)).toMatchObject(waiting);
});

test('PIPE-10 a repeated call that waits for a person is not said to be of another tool', async () => {
  const { ask, asker, operationParts, approvals } = await layer();
  const first = await ask({ tool_id: 'look', parameters: { n: 1 } });
  await approvals.approve({ approvalId: questionOf(first).approvalId, approver: ALICE });
  await approvals.idle();
  const request = { invocation_id: first.invocationId, parameters: { n: 1 } };
  expect(await verifyInvocation.run(operationParts)(request, asker)).toMatchObject(waiting);
});
