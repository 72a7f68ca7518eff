import { failure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import { type InvocationRecord, nonceOf } from '../../domain/invocation/record.ts';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import type { ApprovalRequest, GivenApproval } from '../../domain/invocation/waiting-call.ts';
import { createCompositeExecutor } from '../../executors/composite.ts';
import type { Executor } from '../../executors/executor.port.ts';
import { createNativeExecutor } from '../../executors/native/native-executor.ts';
import { trustWith } from '../../permission/gates/gates.fixture.ts';
import type { ApprovalQuestions } from '../approval-questions.port.ts';
import { createEditJudge } from '../dry-run/judge-edit.ts';
import type { Resumed } from '../ongoing/ongoing-call.ts';
import type { WorkerHold } from '../ongoing/worker-hold.ts';
import type { PipelineParts } from '../parts.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { createPipeline } from '../run.ts';
import { createIdentifyAgain } from '../stages/identify.ts';
import { recoverOpenCalls } from './recover.ts';

const FAR = 4_102_444_800_000;

/** Approvals that number their questions; with `standing` a standing rule approves at once. */
function desk(standing = false): ApprovalQuestions & { readonly asked: ApprovalRequest[] } {
  const asked: ApprovalRequest[] = [];
  return {
    asked,
    standing: () => (standing ? 'rule:r' : undefined),
    question({ reason, binding, prompt }) {
      const request = {
        approvalId: `approval-${asked.length + 1}`,
        reason,
        binding,
        requestedAt: 1,
        expiresAt: FAR,
        ...(prompt === undefined ? {} : { prompt }),
      };
      asked.push(request);
      return request;
    },
  };
}

async function layer(changes: Partial<PipelineParts> = {}) {
  const approvals = desk();
  const made = await pipeline({ approvalQuestions: approvals, workers: { refuses: () => undefined }, ...changes });
  const ran: unknown[] = [];
  const body = (parameters: Readonly<Record<string, unknown>>): unknown => {
    ran.push(parameters);
    return { done: parameters['n'] };
  };
  await made.add(manifest('ask', { requires_confirmation: true, confirmation_prompt: 'Really?' }), body);
  await made.add(manifest('write', { side_effect_policy: 'irreversible' }), body);
  await made.add(manifest('read'), body);
  return { ...made, approvals, ran };
}

/** A lease whose first holder may write the end; a second one is refused. */
const lease = (): WorkerHold => ({
  fence: 1,
  slot: { free: () => undefined, without: (work) => work() },
  begin: async () => true,
  counts: (failed) => failed === undefined,
});

/** Runs the call again, as a worker does that resumes it from its row. */
function resume(
  { run }: Pick<Awaited<ReturnType<typeof layer>>, 'run'>,
  record: InvocationRecord,
  more: Partial<Resumed> = {},
): Promise<InvocationRecord> {
  const { waiting, invocationId, acceptedAt, door } = record;
  if (waiting === undefined) throw new Error('the call does not wait');
  return run(
    { request: waiting.request, caller: { door } },
    {
      invocationId,
      nonce: nonceOf(record),
      acceptedAt,
      waiting,
      ...more,
    },
  );
}

const yes = ({ waiting }: InvocationRecord): GivenApproval => {
  if (waiting?.wait.for !== 'approval') throw new Error('the call waits for no approval');
  const { approvalId, binding, expiresAt } = waiting.wait.approval;
  return { approvalId, binding, expiresAt };
};

describe('a call that needs an approval', () => {
  test('waits on record with all that is needed to run it, and nothing of it runs', async () => {
    const { call, store, ran, token } = await layer();
    const given = await token();
    const record = await call({ tool_id: 'ask', parameters: { n: 1 }, capability_token: given });
    expect(record).toMatchObject({
      state: 'AUTHORIZED',
      deferred: true,
      waiting: {
        request: { tool_id: 'ask', tool_version: '1.0.0', parameters: { n: 1 } },
        wait: { for: 'approval', approval: { reason: 'requires_confirmation', prompt: 'Really?' } },
      },
    });
    expect(await store.findInvocation('acme', record.invocationId)).toEqual(JSON.parse(JSON.stringify(record)));
    expect(JSON.stringify(record)).not.toContain(given);
    expect(ran).toEqual([]);
  });

  test('ORC-03 is refused, and does not run, when no more people can be asked', async () => {
    const full = failure('E3803', 'Too many approvals wait.');
    const made = await layer({ approvalQuestions: { standing: () => undefined, question: () => full } });
    const record = await made.call({ tool_id: 'ask', parameters: { n: 1 } });
    expect(record).toMatchObject({ failure: { code: 'E3803' } });
    expect(record).not.toHaveProperty('waiting');
    expect(made.ran).toEqual([]);
  });

  test('runs with the approval, once more through every stage, and leaves no arguments in its row', async () => {
    const made = await layer();
    const waiting = await made.call({ tool_id: 'ask', parameters: { n: 1 } });
    const done = await resume(made, waiting, { approval: yes(waiting) });
    expect(done).toMatchObject({ invocationId: waiting.invocationId, state: 'COMPLETED', result: { done: 1 } });
    expect(done).not.toHaveProperty('waiting');
    expect(made.ran).toEqual([{ n: 1 }]);
    const events = await made.eventsOf(waiting.invocationId);
    expect(events.map(({ data }) => data['state'])).toEqual([
      'DECLARED',
      'VALIDATED',
      'AUTHORIZED',
      'EXECUTING',
      'COMPLETED',
    ]);
  });

  test('ORC-05.1 ORC-05.2 ORC-05.4 an approval that was given to other arguments, another tool or under other policies does not count', async () => {
    const made = await layer();
    const waiting = await made.call({ tool_id: 'ask', parameters: { n: 1 } });
    const approval = yes(waiting);
    const others: Partial<GivenApproval['binding']>[] = [
      { inputHash: 'other' },
      { contentHash: 'other' },
      { toolVersion: '1.0.1' },
      { policyVersion: '2' },
      { agentDid: 'did:agent:b' },
      { userDid: 'did:user:u' },
      { tenantId: 'other' },
    ];
    for (const other of others) {
      const binding = { ...approval.binding, ...other };
      const again = await resume(made, waiting, { approval: { ...approval, binding } });
      expect(again).toMatchObject({ state: 'AUTHORIZED', waiting: { wait: { for: 'approval' } } });
      expect(again.waiting?.wait).not.toEqual(waiting.waiting?.wait);
    }
    const late = await resume(made, waiting, { approval: { ...approval, expiresAt: Date.now() } });
    expect(late.state).toBe('AUTHORIZED');
    expect(made.ran).toEqual([]);
  });

  test('a policy that forbids it meanwhile wins over the approval', async () => {
    let allowed = true;
    const decide = () => ({ allowed, policies: ['p'], engine: 'e', version: '1' });
    const made = await layer({ policy: { decide, clear() {} } });
    const waiting = await made.call({ tool_id: 'ask', parameters: { n: 1 } });
    allowed = false;
    const refused = await resume(made, waiting, { approval: yes(waiting) });
    expect(refused).toMatchObject({ state: 'DENIED', failure: { code: 'E3210' } });
    expect(made.ran).toEqual([]);
  });

  test('PRM-01 a token that was revoked meanwhile ends it, in the row in which it waited', async () => {
    let revoked = false;
    const made = await layer({ identifyAgain: createIdentifyAgain(() => revoked, 'trusted') });
    const waiting = await made.call({ tool_id: 'ask', parameters: { n: 1 } });
    revoked = true;
    await resume(made, waiting, { approval: yes(waiting) });
    expect(await made.store.findInvocation('acme', waiting.invocationId)).toMatchObject({
      state: 'DENIED',
      failure: { code: 'E3208' },
    });
    expect(made.ran).toEqual([]);
  });

  test('a standing rule says yes at once', async () => {
    const made = await layer({ approvalQuestions: desk(true) });
    expect(await made.call({ tool_id: 'ask', parameters: { n: 2 } })).toMatchObject({ state: 'COMPLETED' });
  });

  test('keeps its idempotency key while it waits: a duplicate neither runs nor asks', async () => {
    const made = await layer();
    const request = { tool_id: 'ask', parameters: { n: 1 }, execution_options: { idempotency_key: 'k' } };
    const waiting = await made.call(request);
    const duplicate = await made.call(request, { signal: AbortSignal.timeout(150) });
    expect(duplicate.state).not.toBe('COMPLETED');
    expect(made.approvals.asked).toHaveLength(1);
    await resume(made, waiting, { approval: yes(waiting) });
    const after = await made.call(request);
    expect(after).toMatchObject({ invocationId: waiting.invocationId, result: { done: 1 } });
    expect(made.ran).toHaveLength(1);
  });
});

describe('what the executor asks about a call', () => {
  /** A layer whose executor asks the questions that the test gives, and records which of its methods ran. */
  async function asking(first: string | undefined, changes: Partial<PipelineParts> = {}) {
    const now = { question: first };
    const paths: string[] = [];
    const on = (path: string) => async () => {
      paths.push(path);
      return { result: path, usage: NO_USAGE };
    };
    const executor: Executor = {
      ...createNativeExecutor(),
      requiresConfirmation: async () => now.question,
      execute: on('execute'),
      executeConfirmed: on('executeConfirmed'),
    };
    return { ...(await layer({ executors: createCompositeExecutor([executor]), ...changes })), now, paths };
  }
  const READ = { tool_id: 'read', parameters: { n: 1 } };

  test('EXE-01.2 is what the call waits for, and the call runs on the confirmed path', async () => {
    const made = await asking('It is odd.');
    const waiting = await made.call(READ);
    expect(made.approvals.asked).toMatchObject([{ reason: 'executor', binding: { question: 'It is odd.' } }]);
    expect(await resume(made, waiting, { approval: yes(waiting) })).toMatchObject({ state: 'COMPLETED' });
    made.now.question = undefined;
    expect(await made.call(READ)).toMatchObject({ state: 'COMPLETED' });
    expect(made.paths).toEqual(['executeConfirmed', 'execute']);
  });

  test('EXE-01 is asked beside the words of the manifest, whatever the reason is', async () => {
    const made = await asking('It is odd.');
    await made.call({ tool_id: 'ask', parameters: { n: 1 } });
    expect(made.approvals.asked).toMatchObject([
      { reason: 'executor', prompt: 'Really?', binding: { question: 'It is odd.' } },
    ]);
    await made.call({ ...READ, execution_options: { require_approval: true } });
    expect(made.approvals.asked[1]).toMatchObject({ reason: 'require_approval', binding: { question: 'It is odd.' } });
  });

  test('ORC-05 is a part of what an approval is bound to: another question is asked again', async () => {
    const made = await asking(undefined);
    const waiting = await made.call({ tool_id: 'ask', parameters: { n: 1 } });
    made.now.question = 'It is odd.';
    const again = await resume(made, waiting, { approval: yes(waiting) });
    expect(again).toMatchObject({ state: 'AUTHORIZED', waiting: { wait: { for: 'approval' } } });
    made.now.question = 'It is worse.';
    expect(await resume(made, again, { approval: yes(again) })).toMatchObject({ state: 'AUTHORIZED' });
    expect(made.paths).toEqual([]);
  });

  test('ORC-05 is asked again when it is another one by the time a worker takes the call', async () => {
    const made = await asking('It is odd.', { approvalQuestions: desk(true) });
    const waiting = await made.call({ ...READ, execution_options: { async_mode: true } });
    expect(waiting).toMatchObject({ waiting: { wait: { for: 'worker', confirmed: true, question: 'It is odd.' } } });
    const { run } = createPipeline({ ...made.parts, approvalQuestions: desk() });
    made.now.question = 'It is worse.';
    expect(await resume({ run }, waiting)).toMatchObject({ waiting: { wait: { for: 'approval' } } });
    // The consent that was given before the call waited for a worker holds: nobody is asked again.
    made.now.question = 'It is odd.';
    const done = await resume({ run }, waiting);
    expect(done).toMatchObject({ state: 'COMPLETED' });
    expect(made.paths).toEqual(['executeConfirmed']);
    const [invoked] = (await made.eventsOf(done.invocationId)).filter(({ type }) => type.endsWith('.invoked'));
    expect(invoked?.data).toMatchObject({ approved_by: 'rule:r' });
  });

  test('PRM-09 ends an autonomous call, whatever the operator lets pass', async () => {
    const made = await asking('It is odd.', { trust: trustWith({ autonomous: 'allow' }) });
    const options = { execution_options: { phase: 'autonomous' as const } };
    for (const tool_id of ['read', 'ask'])
      expect(await made.call({ tool_id, parameters: { n: 1 }, ...options })).toMatchObject({
        state: 'DENIED',
        failure: { code: 'E3210', details: { reason: 'executor', question: 'It is odd.' } },
      });
    expect([made.paths, made.approvals.asked]).toEqual([[], []]);
  });
});

describe('an asynchronous call', () => {
  const later = { execution_options: { async_mode: true } };

  test('PIPE-07 is accepted on record and run by whoever takes it, with what it was sent', async () => {
    const made = await layer();
    const waiting = await made.call({ tool_id: 'write', parameters: { n: 3 }, ...later });
    expect(waiting).toMatchObject({ state: 'AUTHORIZED', waiting: { wait: { for: 'worker' } } });
    expect(made.ran).toEqual([]);
    expect(await resume(made, waiting)).toMatchObject({ state: 'COMPLETED', result: { done: 3 } });
    expect(made.ran).toEqual([{ n: 3 }]);
  });

  test('ORC-05.4 that needed no approval when it was accepted waits for one when a policy asks for it by then', async () => {
    const made = await layer();
    const waiting = await made.call({ tool_id: 'read', parameters: { n: 3 }, ...later });
    expect(waiting).toMatchObject({ waiting: { wait: { for: 'worker', confirmed: false } } });
    const decide = () => ({ allowed: false, ask: true as const, policies: ['p'], engine: 'e', version: '2' });
    const { run } = createPipeline({ ...made.parts, policy: { decide, clear() {} } });
    expect(await resume({ run }, waiting)).toMatchObject({
      state: 'AUTHORIZED',
      waiting: { wait: { for: 'approval', approval: { reason: 'policy' } } },
    });
    expect(made.ran).toEqual([]);
  });

  test('two workers that take the same call at once run it once', async () => {
    const made = await layer();
    const waiting = await made.call({ tool_id: 'write', parameters: { n: 3 }, ...later });
    const both = await Promise.all([
      resume(made, waiting, { hold: lease() }),
      resume(made, waiting, { hold: lease() }),
    ]);
    expect(both.map(({ state }) => state).sort()).toEqual(['COMPLETED', 'EXECUTING']);
    expect(made.ran).toHaveLength(1);
    const standing = await made.store.findInvocation('acme', waiting.invocationId);
    expect(standing).toMatchObject({ state: 'COMPLETED' });
  });

  test('without workers it is refused before anything is on record as accepted', async () => {
    const made = await pipeline();
    await made.add(manifest('read'), () => 1);
    expect(await made.call({ tool_id: 'read', parameters: { n: 1 }, ...later })).toMatchObject({
      failure: { code: 'E3901' },
    });
  });
});

describe('after a crash', () => {
  test('ORC-06 what waits goes on, what may be repeated is run again, and what may not ends as outcome unknown', async () => {
    const made = await layer();
    const { store, parts } = made;
    const later = { execution_options: { async_mode: true } };
    const [waits, safe, unsafe] = await Promise.all([
      made.call({ tool_id: 'write', parameters: { n: 1 }, ...later }),
      made.call({ tool_id: 'read', parameters: { n: 2 }, ...later }),
      made.call({ tool_id: 'write', parameters: { n: 3 }, ...later }),
    ]);
    const cutOff = [safe, unsafe].map((record) => ({ ...record, state: 'EXECUTING' as const }));
    await store.append({ records: cutOff, events: [] }, 'synchronous');
    expect(await recoverOpenCalls(parts, 'one')).toBe(1);
    expect(await store.findInvocation('acme', unsafe.invocationId)).toMatchObject({ failure: { code: 'E3804' } });
    const [still, again] = await Promise.all(
      [waits, safe].map(({ invocationId }) => store.findInvocation('acme', invocationId)),
    );
    expect(await resume(made, still as InvocationRecord)).toMatchObject({ state: 'COMPLETED' });
    expect(await resume(made, again as InvocationRecord, { cutOff: true })).toMatchObject({ state: 'COMPLETED' });
    expect(made.ran).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

test.each([
  ['required', false, 'E3822'],
  ['required', true, undefined],
  ['forbidden', true, 'E3822'],
  ['forbidden', false, undefined],
  ['optional', true, undefined],
  ['optional', false, undefined],
] as const)(
  'API-03 where the calls of a tool as tasks are %s, one with async_mode %s is refused with %s',
  async (task_support, async_mode, code) => {
    const { add, call } = await layer();
    await add(manifest('tool', { execution_config: { task_support } }), () => 1);
    const { failure: refused } = await call({
      tool_id: 'tool',
      parameters: { n: 1 },
      execution_options: { async_mode },
    });
    expect(refused?.code).toBe(code);
  },
);

test('ORC-03 so many edits are judged at once, and one more is refused until one of them is over', async () => {
  const { parts, call } = await layer();
  const record = await call({ tool_id: 'ask', parameters: { n: 1 } });
  const gate = Promise.withResolvers<void>();
  const decide = async (...of: Parameters<typeof parts.policy.decide>) => {
    await gate.promise;
    return parts.policy.decide(...of);
  };
  const judge = createEditJudge({ ...parts, policy: { ...parts.policy, decide } });
  const judged = Array.from({ length: 32 }, () => judge(record, { n: 2 }));
  expect(await judge(record, { n: 2 })).toMatchObject({ code: 'E3803', retryAfterMs: 250 });
  gate.resolve();
  for (const binding of await Promise.all(judged)) expect(binding).toMatchObject({ toolId: 'ask', tenantId: 'acme' });
  expect(await judge(record, { n: 2 })).toMatchObject({ toolId: 'ask' });
  const { waiting: _waiting, ...ended } = record;
  expect(await judge(ended, { n: 2 })).toMatchObject({ code: 'E3809' });
});
