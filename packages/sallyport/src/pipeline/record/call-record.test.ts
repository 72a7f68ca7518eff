import { failure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import type { WaitingCall } from '../../domain/invocation/waiting-call.ts';
import { createCompositeExecutor } from '../../executors/composite.ts';
import { createNativeExecutor } from '../../executors/native/native-executor.ts';
import { decisionsOf } from '../../permission/gates/gates.fixture.ts';
import type { CallSoFar } from '../call.ts';
import { type EndedCall, establish, newOngoingCall, type OngoingCall, type Resumed } from '../ongoing/ongoing-call.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { recordOf, repeated } from './call-record.ts';

const STARTED_MS = 1_700_000_000_000;
const clock = { now: () => STARTED_MS + 9_000, monotonic: () => 900.0004 };
const parts = { clock, instanceId: 'one' };
const COMPLETED: EndedCall = { state: 'COMPLETED' };
const claims = { tenant_id: 'acme' } as CapabilityClaims;

const toolOf = (more: Partial<ToolManifest> = {}) => ({
  ...{ tenantId: 'acme', manifest: manifest('tool', more), contentHash: 'h', registeredAt: '' },
  state: 'active' as const,
});

function call(
  established: Partial<CallSoFar>,
  request: Partial<ToolInvokeRequest> = {},
  resumed?: Resumed,
): OngoingCall {
  const asked = { request: { tool_id: 'tool', parameters: {}, ...request }, caller: { door: 'rest' } } as const;
  const made = newOngoingCall(asked, 100, false, resumed);
  establish(made.call, established);
  return made;
}

const rowOf = (made: OngoingCall, end: EndedCall = COMPLETED) => recordOf(parts, made, end);

const waiting: WaitingCall = {
  ...{ request: { tool_id: 'tool', parameters: {} }, claims, since: STARTED_MS },
  wait: { for: 'worker', confirmed: false },
};
const resumed: Resumed = { invocationId: 'call-1', nonce: 'nonce-1', acceptedAt: STARTED_MS, waiting };

test('AUD-01 a call of which nothing is known is on record as one of nobody, and holds no empty members', () => {
  const made = call({});
  const { metadata, ...row } = rowOf(made, { state: 'FAILED' });
  expect(row).toStrictEqual({
    ...{ invocationId: made.nonce, tenantId: '-', agentDid: '-', toolId: 'tool', door: 'rest', state: 'FAILED' },
    ...{ instanceId: 'one', warnings: [], acceptedAt: clock.now() },
  });
  expect(metadata).toStrictEqual({
    ...{ duration_ms: 800, started_at: '2023-11-14T22:13:29.000Z', completed_at: '2023-11-14T22:13:29.000Z' },
    ...{ cpu_used_millicore_seconds: 0, memory_peak_mb: 0, network_bytes_sent: 0, network_bytes_received: 0 },
    ...{ documents_accessed: [], checkpoints_created: [], attempts: 0, cached: false },
  });
});

test('AUD-01 what is established of a call is in its row', () => {
  const gateDecision = { allowed: true, answer: 'ALLOW', model: 'm', version: 'v', ms: 1 } as const;
  const principal = { tenantId: 'acme', agentDid: 'did:a', userDid: 'did:u', sessionId: 's', roles: [] };
  const hashes = { inputHash: 'i', outputHash: 'o', outputKeptHash: 'k' };
  const known = {
    principal,
    trust: 'provisional',
    gateDecision,
    ...hashes,
    result: 7,
    invocationId: 'chosen',
  } as const;
  const execution_options = { phase: 'autonomous', claim_source: 'mail', turn_group_id: 'turn' } as const;
  const made = call(
    { ...known, tool: toolOf({ side_effect_policy: 'irreversible' }), idempotencyKey: 'key' },
    {
      ...{ tool_id: 'alias', execution_options },
    },
  );
  made.toolRun.noteWarning({ code: 'late', message: 'Late.' } as never);
  const answered = { ...rowOf(call({})), invocationId: 'earlier' };
  expect(rowOf(made, { ...COMPLETED, answered })).toMatchObject({
    ...{ invocationId: 'chosen', nonce: made.nonce, tenantId: 'acme', agentDid: 'did:a', userDid: 'did:u' },
    ...{ sessionId: 's', toolId: 'tool', calledAs: 'alias', toolVersion: '1.0.0', contentHash: 'h', ...hashes },
    ...{ sideEffect: 'irreversible', phase: 'autonomous', claimSource: 'mail', turnGroupId: 'turn', result: 7 },
    ...{
      trust: 'provisional',
      gateDecision,
      answeredBy: 'earlier',
      idempotencyKey: 'key',
      warnings: [{ code: 'late' }],
    },
  });
  expect(rowOf(call({ tool: toolOf() }))).not.toHaveProperty('calledAs');
  expect(rowOf(call({ tool: toolOf(), idempotencyKey: 'key' }))).not.toHaveProperty('idempotencyKey');
});

test('AUD-01 a failed call is on record with its failure but the cause, and without a result', () => {
  const failed = failure('E3109', 'It failed.', { cause: new Error('secret'), details: { a: 1 } });
  const row = rowOf(call({ result: 7, outputHash: 'o' }), { state: 'FAILED', failure: failed });
  const { cause: _cause, ...said } = failed;
  expect(row.failure).toStrictEqual(said);
  expect(row).not.toHaveProperty('result');
  expect(rowOf(call({ result: 7 }))).not.toHaveProperty('result');
});

test('PIPE-09 an id that the caller chose stays free when the call is refused before it has a row', () => {
  const failed = { state: 'DENIED', failure: failure('E3205', 'No.') } as const;
  const made = call({ invocationId: 'chosen' });
  expect(rowOf(made, failed).invocationId).toBe(made.nonce);
  expect(rowOf(made, failed)).not.toHaveProperty('nonce');
  made.transitions.push({ state: 'EXECUTING', at: 0 });
  expect(rowOf(made, failed)).toMatchObject({ invocationId: 'chosen', nonce: made.nonce });
  expect(rowOf(call({}, {}, resumed), failed)).toMatchObject({ invocationId: 'call-1', nonce: 'nonce-1' });
});

test('PIPE-10 the inputs of a tool that says it is deterministic are kept, with its variables, unless documents or a context change its answer', () => {
  const inputsOf = (more: Partial<CallSoFar>, environment?: Record<string, string>) => {
    const request = environment === undefined ? {} : { execution_options: { environment } };
    const known = { parameters: { n: 1 }, result: 1, outputHash: 'o', tool: toolOf({ deterministic: true }) };
    return rowOf(call({ ...known, ...more }, request)).inputs;
  };
  expect(inputsOf({})).toStrictEqual({ parameters: { n: 1 } });
  expect(inputsOf({}, { A: 'b' })).toStrictEqual({ parameters: { n: 1 }, environment: { A: 'b' } });
  expect(inputsOf({ tool: toolOf() })).toBeUndefined();
  expect(inputsOf({ tool: toolOf({ deterministic: true, side_effect_policy: 'idempotent' }) })).toBeUndefined();
  expect(inputsOf({ documents: [] })).toBeUndefined();
  const reads = toolOf({ deterministic: true, execution_config: { session_context: true } });
  expect(inputsOf({ tool: reads })).toBeUndefined();
  expect(inputsOf({ parameters: undefined })).toBeUndefined();
  expect(inputsOf({ tool: undefined })).toBeUndefined();
});

test('PIPE-11.4 DOC-05.2 each document of a call counts once for each attempt, and not at all when the tool was not reached', () => {
  const documents = [{ document_id: 'd', version: '2' }] as unknown as NonNullable<CallSoFar['documents']>;
  const made = call({ documents });
  expect(rowOf(made).metadata?.documents_accessed).toEqual([]);
  made.toolRun.beginAttempt();
  made.toolRun.beginAttempt();
  const accessed = [{ access_count: 2, document_id: 'd', document_version: '2' }];
  expect(rowOf(made).metadata?.documents_accessed).toEqual(accessed);
  const none = call({});
  none.toolRun.beginAttempt();
  expect(rowOf(none).metadata?.documents_accessed).toEqual([]);
});

test('VIS-03 what takes a call back is on record while it runs, when it completed, and when its outcome is unknown', () => {
  const compensationOf = (end: EndedCall, more: Partial<ToolManifest> = {}, known: Partial<CallSoFar> = {}) => {
    const tool = toolOf({ side_effect_policy: 'compensatable', compensation_tool_id: 'undo', ...more });
    return rowOf(call({ tool, parameters: { n: 1 }, ...known }), end).compensation;
  };
  const plan = { toolId: 'undo', parameters: { n: 1 } };
  expect(compensationOf(COMPLETED)).toEqual(plan);
  expect(compensationOf({ state: 'EXECUTING' })).toEqual(plan);
  expect(compensationOf({ state: 'ABORTED', failure: failure('E3804', 'Unknown.') })).toEqual(plan);
  expect(compensationOf({ state: 'ABORTED', failure: failure('E3805', 'Cancelled.') })).toBeUndefined();
  expect(compensationOf({ state: 'FAILED' })).toBeUndefined();
  expect(compensationOf(COMPLETED, { side_effect_policy: 'irreversible' })).toBeUndefined();
  expect(compensationOf(COMPLETED, {}, { parameters: undefined })).toBeUndefined();
  const unnamed = toolOf({ side_effect_policy: 'compensatable' });
  expect(rowOf(call({ tool: unnamed, parameters: {} }))).not.toHaveProperty('compensation');
  expect(rowOf(call({ compensates: 'call-0' })).compensates).toBe('call-0');
});

test('ORC-06 a waiting call keeps what it needs to run later, without its token', () => {
  const wait = { for: 'worker', confirmed: true } as const;
  const end: EndedCall = { state: 'AUTHORIZED', waits: wait };
  const known = { claims, tool: toolOf(), givenParameters: { n: 1 } };
  const row = rowOf(call(known, { capability_token: 'secret' }), end);
  const request = { tool_id: 'tool', tool_version: '1.0.0', parameters: { n: 1 } };
  const accepted = { toolId: 'tool', contentHash: known.tool.contentHash };
  expect(row.waiting).toStrictEqual({ request, tool: accepted, claims, wait, since: clock.now() });
  expect(row.deferred).toBe(true);
  expect(row.metadata).not.toHaveProperty('completed_at');
  const more = call({
    ...known,
    givenParameters: undefined,
    compensates: 'c',
    caller: { door: 'mcp', questions: { a: 1 } },
  });
  more.toolRun.noteServerTask({ taskId: 't' } as never);
  expect(rowOf(more, end).waiting?.request.parameters).toEqual({});
  expect(rowOf(more, end).waiting).toMatchObject({
    ...{ request: { parameters: {} }, compensates: 'c', questions: { a: 1 }, serverTask: { taskId: 't' } },
  });
  for (const unknown of [
    { ...known, claims: undefined },
    { ...known, tool: undefined },
  ])
    expect(() => rowOf(call(unknown), end)).toThrow('before it is known');
});

test('ORC-06 a resumed call may run again while it runs, under the lease of its worker, and no more once it ended', () => {
  const hold = { fence: 4 } as NonNullable<Resumed['hold']>;
  const made = call({}, {}, { ...resumed, hold });
  const running: EndedCall = { state: 'EXECUTING' };
  expect(rowOf(made, running)).toMatchObject({ waiting, fence: 4, deferred: true, acceptedAt: STARTED_MS });
  expect(rowOf(made, running).metadata).not.toHaveProperty('completed_at');
  expect(rowOf(made)).not.toHaveProperty('waiting');
  expect(rowOf(made)).toMatchObject({ deferred: true });
  expect(rowOf(call({}, {}, resumed), running)).not.toHaveProperty('fence');
  const first = call({});
  first.toolRun.noteServerTask({ taskId: 't' } as never);
  expect(rowOf(first, running)).not.toHaveProperty('waiting');
  expect(rowOf(call({}), running)).not.toHaveProperty('deferred');
  expect(rowOf(made, running).waiting).not.toHaveProperty('serverTask');
  made.toolRun.noteServerTask({ taskId: 't' } as never);
  expect(rowOf(made, running).waiting).toStrictEqual({ ...waiting, serverTask: { taskId: 't' } });
});

test('PIPE-11.1 PIPE-11.2 the row says what the tool took, without the wait for a slot, and what its attempts did', () => {
  const usage = { ...NO_USAGE, memoryPeakMb: 3, networkBytesReceived: 5 };
  const made = call({ slotWaitMs: 200.00049 });
  made.transitions.push({ state: 'DECLARED', at: STARTED_MS }, { state: 'FAILED', at: STARTED_MS + 1 });
  made.toolRun.noteUsage(usage);
  const failed = failure('E3109', 'quotes the tool');
  made.toolRun.noteFailedAttempt({
    attempt: 1,
    failure: failed,
    startedAt: STARTED_MS,
    durationMs: 1.00049,
    waitedMs: 2,
  });
  made.toolRun.noteCheckpoint({ checkpointId: 'p', type: 'progress', savedAt: STARTED_MS } as never);
  const started_at = '2023-11-14T22:13:20.000Z';
  const { metadata } = rowOf(made);
  expect(metadata).toMatchObject({
    ...{ duration_ms: 600, slot_wait_ms: 200, started_at, completed_at: '2023-11-14T22:13:20.001Z' },
    ...{ memory_peak_mb: 3, network_bytes_received: 5 },
    checkpoints_created: [{ checkpoint_id: 'p', checkpoint_type: 'progress', timestamp: started_at }],
    failed_attempts: [{ attempt: 1, e_code: 'E3109', started_at, duration_ms: 1, waited_ms: 2 }],
  });
  expect(JSON.stringify(metadata)).not.toContain('quotes');
  expect(metadata).not.toHaveProperty('weaker_limits');
  establish(made.call, { ran: { result: 1, usage: { ...usage, memoryPeakMb: 4, weakerLimits: ['memory'] } } });
  expect(rowOf(made).metadata).toMatchObject({ memory_peak_mb: 4, weaker_limits: ['memory'] });
});

test('PIPE-09 the answer to a duplicate is the record of the earlier call, marked as a repetition', () => {
  const [duplicate, earlier] = [rowOf(call({ slotWaitMs: 3 })), rowOf(call({}))];
  expect(repeated(duplicate, earlier)).toEqual({ ...earlier, metadata: { ...earlier.metadata, cached: true } });
  const without = (row: InvocationRecord): InvocationRecord => {
    const { metadata: _metadata, ...rest } = row;
    return rest;
  };
  expect(repeated(duplicate, without(earlier)).metadata).toEqual({ ...duplicate.metadata, cached: true });
  expect(repeated(without(duplicate), without(earlier))).toEqual(without(earlier));
});

const fault = (): never => {
  throw new Error('the disk is full');
};

test('AUD-01 a call is on record for the one who asked, also when its tool is not there or cannot be looked for', async () => {
  const made = await pipeline();
  await made.add(manifest('tool'), () => 'ran');
  const asker = { tenantId: 'acme', agentDid: 'did:agent:a' };
  const absent = await made.call({ tool_id: 'nowhere', parameters: {} });
  expect(absent).toMatchObject({ ...asker, failure: { code: 'E3001' } });
  const { visible } = made.parts;
  const broken = await pipeline({ visible: { ...visible, findAnywhere: fault } });
  expect(await broken.call({ tool_id: 'tool', parameters: { n: 1 } })).toMatchObject({
    ...asker,
    failure: { code: 'E3900' },
  });
});

test('PRM-06 the trust in a call is on record, also when the policy or the gate behind it fails', async () => {
  const engine = { name: 'broken', version: () => '1', decide: fault };
  const gate = { judge: fault } as never;
  for (const changes of [{ policy: decisionsOf(engine) }, { gate }]) {
    const made = await pipeline(changes);
    await made.add(manifest('tool'), () => 'ran');
    const capability_token = await made.token({ trust_level: 'provisional' });
    const record = await made.call({ tool_id: 'tool', parameters: { n: 1 }, capability_token });
    expect(record).toMatchObject({ trust: 'provisional' });
    expect(record.failure).toBeDefined();
  }
});

test('PIPE-08 how long a call waited for its slot is on record, also when what it takes next fails', async () => {
  const quota = { knownSpent: () => undefined, take: fault } as never;
  const made = await pipeline({ quota });
  await made.add(manifest('tool'), () => 'ran');
  const slots = Array.from({ length: made.parts.limits.callsPerAgentMax }, () =>
    made.parts.running.slots.take('acme\ndid:agent:a', made.parts.limits.callsPerAgentMax),
  );
  const waiting = made.call({ tool_id: 'tool', parameters: { n: 1 } });
  await expect.poll(() => made.parts.running.slots.waiting).toBe(1);
  slots[0]?.free();
  const { failure, metadata } = await waiting;
  expect(failure?.code).toBe('E3900');
  expect(metadata?.slot_wait_ms).toBeGreaterThan(0);
});

test('AUD-01.2 AUD-01.3 the end of a call is an event of its type: succeeded, failed, or out of time', async () => {
  const made = await pipeline();
  await made.add(manifest('tool'), () => 'ran');
  await made.add(manifest('broken'), fault);
  await made.add(manifest('slow'), () => new Promise(() => undefined));
  const endOf = async (request: ToolInvokeRequest) => {
    const { invocationId } = await made.call({ parameters: { n: 1 }, ...request });
    return (await made.eventsOf(invocationId)).at(-1)?.type;
  };
  expect(await endOf({ tool_id: 'tool' })).toBe('ai.agent.tool.succeeded');
  expect(await endOf({ tool_id: 'broken' })).toBe('ai.agent.tool.failed');
  const elsewhere = { agent_context: { agent_did: 'did:agent:b', tenant_id: 'acme' } };
  expect(await endOf({ tool_id: 'tool', ...elsewhere })).toBe('ai.agent.tool.failed');
  expect(await endOf({ tool_id: 'slow', resource_limits: { timeout_seconds: 0.01 } })).toBe('ai.agent.tool.timeout');
});

test('VIS-03 a call is on record with what takes it back, where it did or may have done something', async () => {
  const made = await pipeline();
  await made.add(manifest('undo'), () => 'undone');
  const back = { compensation_tool_id: 'undo' };
  let whileItRuns: unknown;
  await made.add(manifest('pay', { side_effect_policy: 'compensatable', ...back }), async ({ n }) => {
    whileItRuns = await made.store.findInvocation('acme', `pay-${n}`);
    if (n === 13) throw new Error('no money');
    return 'paid';
  });
  const pay = (n: number) => made.call({ tool_id: 'pay', parameters: { n }, invocation_id: `pay-${n}` });
  const compensation = { toolId: 'undo', parameters: { n: 1 } };
  expect(await pay(1)).toMatchObject({ compensation });
  expect(whileItRuns).toMatchObject({ state: 'EXECUTING', compensation });
  const failed = await pay(13);
  expect(failed).toMatchObject({ state: 'FAILED' });
  expect(failed).not.toHaveProperty('compensation');
});

test('PIPE-11.1 how long a call took, and when it ended, is by the clock of the layer', async () => {
  const time = { ms: 1_000 };
  const clock = { now: () => 1_700_000_000_000 + time.ms, monotonic: () => time.ms };
  const made = await pipeline({ clock });
  await made.add(manifest('tool'), () => {
    time.ms += 500;
  });
  expect((await made.call({ tool_id: 'tool', parameters: { n: 1 } })).metadata).toMatchObject({
    duration_ms: 500,
    started_at: '2023-11-14T22:13:21.000Z',
    completed_at: '2023-11-14T22:13:21.500Z',
  });
});

test('PIPE-11.2 PIPE-11.3 what a run used is on record, with the limits that hold more weakly here', async () => {
  const native = createNativeExecutor();
  const usage = { ...NO_USAGE, cpuMillicoreSeconds: 7, networkBytesSent: 8, weakerLimits: ['memory'] as const };
  const executor = { ...native, owns: () => true, execute: async () => ({ result: 'ran', usage }) };
  const made = await pipeline({ executors: createCompositeExecutor([executor]) });
  await made.add(manifest('tool'), () => 'ran');
  expect((await made.call({ tool_id: 'tool', parameters: { n: 1 } })).metadata).toMatchObject({
    cpu_used_millicore_seconds: 7,
    network_bytes_sent: 8,
    weaker_limits: ['memory'],
  });
});
