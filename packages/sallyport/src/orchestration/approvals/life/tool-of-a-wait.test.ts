import { expect, test } from 'vitest';
import { type InvocationRecord, nonceOf } from '../../../domain/invocation/record.ts';
import { createCallIntake } from '../../call-intake.ts';
import { WORKER_DEFAULTS } from '../../workers.ts';
import { ALICE, type ApprovalsUnderTest, approvalsOf, questionOf, rowOf } from '../approvals.fixture.ts';

/** Gives every agent one tool under the name `act`, and perhaps another under the name `other`. */
const view = ({ visibility }: ApprovalsUnderTest, act: string, other?: string) =>
  visibility.putView('acme', {
    name: 'mine',
    agents: ['*'],
    conflict: 'prefix',
    sources: [
      {
        source: 'local',
        tools: [{ tool: act, name: 'act' }, ...(other === undefined ? [] : [{ tool: other, name: 'other' }])],
      },
    ],
  });

/** Runs a call that waited for a worker. */
async function resume(made: ApprovalsUnderTest, record: InvocationRecord): Promise<InvocationRecord> {
  const { waiting, invocationId, acceptedAt } = record;
  if (waiting === undefined) throw new Error('it does not wait');
  const resumed = { invocationId, nonce: nonceOf(record), acceptedAt, waiting };
  return made.run({ request: waiting.request, caller: { door: 'library' } }, resumed as never);
}

const later = { execution_options: { async_mode: true } };

test('PIPE-07 REG-13 a call that waits runs the tool that it was accepted for, whatever its name means since', async () => {
  const made = await approvalsOf({
    pipeline: { workers: createCallIntake({ ...WORKER_DEFAULTS, callsPerAgentMax: 4 }) },
  });
  await made.add('erase');
  await view(made, 'plain');
  const moved = await made.call({ tool_id: 'act', parameters: { n: 1 }, ...later });
  await view(made, 'erase', 'plain');
  expect(await resume(made, moved)).toMatchObject({ state: 'COMPLETED', toolId: 'plain', calledAs: 'act' });
  expect(made.ran).toEqual([{ tool: 'plain', n: 1 }]);
  await view(made, 'plain');
  const hidden = await made.call({ tool_id: 'act', parameters: { n: 2 }, ...later });
  await view(made, 'erase');
  const refused = await resume(made, hidden);
  expect(refused).toMatchObject({ failure: { code: 'E3001' }, toolId: 'plain', calledAs: 'act' });
  expect(refused.failure?.message).not.toContain('plain');
  expect(made.ran).toHaveLength(1);
});

test('ORC-05 REG-13 an approval is not asked for again for another tool that has the name since', async () => {
  const made = await approvalsOf();
  await view(made, 'pay');
  const waiting = await made.ask({ tool_id: 'act', parameters: { n: 1 } });
  await view(made, 'send', 'pay');
  await made.approvals.approve({ approvalId: questionOf(waiting).approvalId, approver: ALICE });
  await made.approvals.idle();
  expect(await rowOf(made, waiting)).toMatchObject({ state: 'COMPLETED', toolId: 'pay' });
  expect(made.ran).toEqual([{ tool: 'pay', n: 1 }]);
});
