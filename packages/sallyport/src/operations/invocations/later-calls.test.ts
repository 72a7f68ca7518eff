import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, expect, test } from 'vitest';
import type { Role } from '../../../api/schemas/capability-token.ts';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import type { Principal } from '../../domain/principal/principal.ts';
import { createCompositeExecutor } from '../../executors/composite.ts';
import type { Executor } from '../../executors/executor.port.ts';
import { createNativeExecutor, type NativeCallContext } from '../../executors/native/native-executor.ts';

import { instance, LATER, over, sharedMemory, until } from '../../orchestration/workers/workers.fixture.ts';
import type { PipelineParts } from '../../pipeline/parts.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { cancelInvocation } from './cancel-invocation.ts';
import { extendInvocation } from './extend-invocation.ts';
import { getInvocation } from './get-invocation.ts';
import { invokeTool } from './invoke-tool.ts';
import { watchInvocation } from './watch-invocation.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

const asker = (
  agentDid = 'did:agent:a',
  tenantId = 'acme',
  roles: readonly Role[] = ['agent'],
  user: Pick<Principal, 'userDid'> = {},
): Asker => ({
  principal: { tenantId, agentDid, roles, ...user },
  caller: { door: 'library' },
});
const OTHERS = [
  asker('did:agent:b'),
  asker('did:agent:a', 'globex'),
  asker('did:op', 'globex', ['admin']),
  asker('did:agent:a', 'acme', ['agent'], { userDid: 'did:user:u' }),
];

async function start(shared = sharedMemory(), own: Partial<PipelineParts> = {}) {
  const made = await instance(`instance-${opened.length}`, shared, {}, { parts: own });
  opened.push(made);
  await made.workers.start();
  const limits = { ...made.parts.limits, laterTimeoutMsMax: 60_000 };
  const parts = { ...made.parts, records: shared.store, limits, callWorkers: made.workers, callIntake: made.intake };
  const operations = { ...parts, runCall: made.run } as unknown as OperationParts;
  return {
    ...made,
    shared,
    status: getInvocation.run(operations),
    cancel: cancelInvocation.run(operations),
    extend: extendInvocation.run(operations),
    watch: watchInvocation.run(operations),
    invoke: invokeTool.run(operations),
  };
}

/** A tool that reports progress when the test tells it to. */
function steered() {
  const runs: NativeCallContext[] = [];
  let end = (): void => undefined;
  return {
    runs,
    end: () => end(),
    body: (_parameters: unknown, context: NativeCallContext) => {
      runs.push(context);
      return new Promise((resolve, reject) => {
        end = () => resolve('done');
        context.signal.addEventListener('abort', () => reject(context.signal.reason));
      });
    },
  };
}

test('PIPE-07.3 the status of a running call shows how far it is, here and in another instance', async () => {
  const one = await start();
  const two = await start(one.shared);
  const { body, runs, end } = steered();
  await one.tool('long', body);
  const { invocationId: invocation_id, ...record } = await one.call({
    tool_id: 'long',
    parameters: { n: 1 },
    ...LATER,
  });
  await until(() => runs[0]);
  const shown: [object, object][] = [
    [
      { progress: 1, total: 3, message: 'reading' },
      { progress_percent: 33.3, current_phase: 'reading' },
    ],
    [{ progress: 9, total: 3 }, { progress_percent: 100 }],
    [{ progress: -1, total: 3 }, { progress_percent: 0 }],
    [{ progress: 5, message: 'x'.repeat(500) }, { current_phase: 'x'.repeat(200) }],
    [{ progress: Number.NaN, total: 0 }, {}],
  ];
  for (const [said, seen] of shown) {
    runs[0]?.progress(said as { progress: number });
    const status = await one.status({ invocation_id }, asker());
    const { accepted_at, ...others } = status as Record<string, unknown>;
    expect(accepted_at).toEqual(expect.any(String));
    const shownStatus = { invocation_id, state: 'EXECUTING', status: 'running', tool_id: 'long', deferred: true };
    expect(others).toEqual({ ...shownStatus, ...seen });
  }
  runs[0]?.progress({ progress: 2, total: 4 });
  const elsewhere = () => two.status({ invocation_id }, asker());
  await until(async () => ('progress_percent' in (await elsewhere()) ? true : undefined));
  expect(await elsewhere()).toMatchObject({ state: 'EXECUTING', status: 'running', progress_percent: 50 });
  end();
  await over(one.shared, { ...record, invocationId: invocation_id });
  expect(await elsewhere()).toMatchObject({ state: 'COMPLETED', status: 'success', result: 'done' });
});

test('PIPE-07.4 the status of a running call names its newest checkpoint, here and in another instance', async () => {
  const one = await start();
  const two = await start(one.shared, { checkpoints: one.parts.checkpoints });
  const { body, runs, end } = steered();
  await one.tool('long', body);
  const ask = { tool_id: 'long', parameters: { n: 1 } };
  const first = await one.call({ ...ask, ...LATER });
  const { invocationId: invocation_id } = first;
  await until(() => runs[0]);
  const both = () => Promise.all([one, two].map(({ status }) => status({ invocation_id }, asker())));
  for (const status of await both()) expect(status).not.toHaveProperty('latest_checkpoint');
  for (const step of [1, 2]) {
    const { checkpointId, savedAt } = (await runs[0]?.checkpoints.save({ step }, { name: `${step}` })) ?? {};
    const latest_checkpoint = { checkpoint_id: checkpointId, timestamp: new Date(savedAt ?? 0).toISOString() };
    for (const status of await both()) expect(status).toMatchObject({ state: 'EXECUTING', latest_checkpoint });
  }
  end();
  const { metadata } = await over(one.shared, first);
  for (const status of await both()) expect(status).not.toHaveProperty('latest_checkpoint');
  const resume_from_checkpoint_id = metadata?.checkpoints_created.at(-1)?.checkpoint_id ?? '';
  const next = await one.call({ ...ask, ...LATER, checkpoint_config: { resume_from_checkpoint_id } });
  await until(() => runs[1]);
  expect(runs[1]?.checkpoints.restored).toMatchObject({ checkpointId: resume_from_checkpoint_id });
  for (const { status } of [one, two])
    expect(await status({ invocation_id: next.invocationId }, asker())).not.toHaveProperty('latest_checkpoint');
  end();
  await over(one.shared, next);
});

test('PIPE-07 a watcher is told of what is new, and waits where nothing is', async () => {
  const { tool, call, watch } = await start();
  const { body, runs, end } = steered();
  await tool('long', body);
  const { invocationId: invocation_id } = await call({ tool_id: 'long', parameters: { n: 1 }, ...LATER });
  await until(() => runs[0]);
  const see = async (after?: string, wait_seconds = 5) => {
    const seen = await watch({ invocation_id, wait_seconds, ...(after === undefined ? {} : { after }) }, asker());
    if (isFailure(seen)) throw new Error(seen.message);
    return seen;
  };
  const first = await see();
  expect(first).toMatchObject({ changed: true, over: false, invocation: { state: 'EXECUTING' } });
  expect(await see(first.event_id, 0)).toMatchObject({ changed: false, event_id: first.event_id });
  const waiting = see(first.event_id);
  for (let turn = 0; turn < 10_000; turn += 1) runs[0]?.progress({ progress: turn, total: 10_000 });
  const second = await waiting;
  expect(second).toMatchObject({ changed: true, invocation: { progress_percent: 100 } });
  const last = see(second.event_id);
  end();
  expect(await last).toMatchObject({ changed: true, over: true, invocation: { result: 'done' } });
});

test('PRM-10 nobody looks at, ends or extends the call of another', async () => {
  const { tool, call, status, cancel, extend, watch } = await start();
  const { body, runs, end } = steered();
  await tool('long', body);
  const { invocationId: invocation_id } = await call({ tool_id: 'long', parameters: { n: 1 }, ...LATER });
  await until(() => runs[0]);
  for (const other of OTHERS) {
    const answers = await Promise.all([
      status({ invocation_id }, other),
      watch({ invocation_id }, other),
      cancel({ invocation_id }, other),
      extend({ invocation_id, extend_seconds: 1 }, other),
    ]);
    expect(answers.map((answer) => ('code' in answer ? answer.code : answer))).toEqual(Array(4).fill('E3809'));
  }
  expect(runs[0]?.signal.aborted).toBe(false);
  end();
});

test('PIPE-06 ORC-06 a cancelled call whose instance ends before its tool does is not run again by another', async () => {
  const shared = sharedMemory();
  const { leases } = shared;
  let isGone = false;
  const beat: typeof leases.beat = (...given) =>
    isGone ? Promise.reject(new ToolLayerError('E3812', 'gone')) : leases.beat(...given);
  let runs = 0;
  const ended = Promise.withResolvers<void>();
  const execute: Executor['execute'] = async () => {
    runs += 1;
    await ended.promise;
    return { result: undefined, usage: NO_USAGE };
  };
  const deaf = () => createCompositeExecutor([{ ...createNativeExecutor(), execute }]);
  const one = await start({ ...shared, leases: { ...leases, beat } }, { executors: deaf() });
  await one.tool('long', () => 1, { side_effect_policy: 'idempotent' });
  const record = await one.call({ tool_id: 'long', parameters: { n: 1 }, ...LATER });
  await until(() => runs > 0 || undefined);
  const { invocationId: invocation_id } = record;
  expect(await one.cancel({ invocation_id, reason: 'enough' }, asker())).toMatchObject({ cancelled: true });
  isGone = true;
  const two = await start(shared, { executors: deaf() });
  await two.tool('long', () => 1, { side_effect_policy: 'idempotent' });
  expect(await over(shared, record)).toMatchObject({
    failure: { code: 'E3805', message: expect.stringMatching('enough') },
  });
  expect(runs).toBe(1);
  ended.resolve();
}, 120_000);

test('PIPE-12.2 a running call is extended within the bound; one that waits, is over or is waited for is not', async () => {
  const { tool, call, extend, parts } = await start();
  const { body, runs, end } = steered();
  await tool('long', body, { side_effect_policy: 'idempotent' });
  const { invocationId: invocation_id, ...record } = await call({ tool_id: 'long', parameters: { n: 1 }, ...LATER });
  await until(() => runs[0]);
  const before = parts.running.find('acme', invocation_id)?.toolRun.deadline?.leftMs() ?? 0;
  expect(await extend({ invocation_id, extend_seconds: 30 }, asker())).toMatchObject({
    extended: true,
    deadline: expect.any(String),
    message: expect.stringContaining('60 s in all'),
  });
  expect(parts.running.find('acme', invocation_id)?.toolRun.deadline?.leftMs()).toBeGreaterThan(before + 20_000);
  end();
  await over({ store: parts.records }, { ...record, invocationId: invocation_id });
  expect(await extend({ invocation_id, extend_seconds: 1 }, asker())).toMatchObject({ extended: false });
  const sync = call({ tool_id: 'long', parameters: { n: 2 }, invocation_id: 'sync' });
  await until(() => runs[1]);
  expect(await extend({ invocation_id: 'sync', extend_seconds: 1 }, asker())).toMatchObject({
    extended: false,
    message: expect.stringContaining('async_mode'),
  });
  end();
  await sync;
});

test('PIPE-06.5 cancel is idempotent, before the run, during it and after', async () => {
  const { tool, accept, call, cancel, shared } = await start();
  const { body, runs } = steered();
  await tool('long', body);
  const waits = await accept({ tool_id: 'long', parameters: { n: 1 }, ...LATER });
  const end = (invocation_id: string) => cancel({ invocation_id, reason: 'enough' }, asker());
  expect(await end(waits.invocationId)).toMatchObject({
    cancelled: true,
    message: 'The call waited, and will not run',
  });
  expect(await end(waits.invocationId)).toMatchObject({ cancelled: false, message: 'Already over: ABORTED' });
  const running = await call({ tool_id: 'long', parameters: { n: 1 }, ...LATER });
  await until(() => runs[0]);
  expect(await end(running.invocationId)).toMatchObject({ cancelled: true });
  expect(await over(shared, running)).toMatchObject({ failure: { code: 'E3805' } });
  expect(await end(running.invocationId)).toMatchObject({ cancelled: false });
  expect(runs).toHaveLength(1);
});

test('PIPE-07.2 the answer says where to ask, and how long it will take once that is known', async () => {
  const { tool, invoke, intake, token } = await start();
  await tool('quick', () => 1);
  const ask = async () => {
    const request = { tool_id: 'quick', parameters: { n: 1 }, capability_token: await token(), ...LATER };
    const answer = await invoke(request, asker());
    if (isFailure(answer)) throw new Error(answer.message);
    return answer;
  };
  const first = await ask();
  expect(first.polling_info).toEqual({ status_url: `/v1/invocations/${first.invocation_id}` });
  intake.noteServed(3_000);
  expect((await ask()).polling_info?.estimated_completion_seconds).toBeGreaterThan(0);
});

test('PIPE-07 a result that was kept for its time is gone from the status, which says so; the record stands', async () => {
  const made = await start();
  const { status, shared, call, tool, eventsOf } = made;
  await tool('any', () => ({ secret: 'of the result' }));
  const accepted = await call({ tool_id: 'any', parameters: { n: 1 }, ...LATER });
  await over(shared, accepted);
  const asked = { invocation_id: accepted.invocationId };
  expect(await status(asked, asker())).toMatchObject({ status: 'success', result: { secret: 'of the result' } });
  const events = await eventsOf(accepted.invocationId);
  await shared.store.forgetResults({ before: Number.MAX_SAFE_INTEGER, at: 1_800_000_000_000, limit: 10 });
  const shown = await status(asked, asker());
  expect(shown).toMatchObject({
    status: 'success',
    state: 'COMPLETED',
    warnings: [{ code: 'E3819', details: { forgotten_at: '2027-01-15T08:00:00.000Z' } }],
    execution_metadata: { attempts: 1 },
  });
  expect(JSON.stringify(shown)).not.toContain('of the result');
  expect(await eventsOf(accepted.invocationId)).toEqual(events);
});
