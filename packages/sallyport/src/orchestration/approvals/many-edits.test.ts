import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import { createPolicyDecisions } from '../../permission/policy-decisions.ts';
import { ALICE, approvalsOf, questionOf } from './approvals.fixture.ts';

test('ORC-03 of many edits at once 32 are judged; the next approver is asked to try again, and nothing is decided', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let held = 0;
  const engine = {
    name: 'slow',
    version: () => `${held}`,
    // Nothing is held before the call itself waits.
    decide: async () => {
      if (held > 0) await released;
      return { allowed: true, policies: [] };
    },
  };
  const made = await approvalsOf({ pipeline: { policy: createPolicyDecisions({ engine }) } });
  const waiting = await made.ask({ tool_id: 'send', parameters: { n: 1 } });
  const { approvalId } = questionOf(waiting);
  held = 1;
  const edits = Array.from({ length: 33 }, (_, n) =>
    made.approvals.approve({ approvalId, approver: ALICE, parameters: { n: n + 2 } }),
  );
  const first = await Promise.race(edits);
  expect(first).toMatchObject({ code: 'E3803' });
  expect(made.ran).toEqual([]);
  release();
  const ends = await Promise.all(edits);
  expect(ends.filter((end) => isFailure(end) && end.code === 'E3803')).toHaveLength(1);
  await made.approvals.idle();
  expect(made.ran).toHaveLength(1);
});
