import { failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { OngoingCall } from '../../../pipeline/ongoing/ongoing-call.ts';
import { RunningCalls } from '../../../pipeline/ongoing/running-calls.ts';
import { notingLog } from '../../approvals/approvals.fixture.ts';
import type { CallLeaseStore } from '../../call-lease-store.port.ts';
import { createWorkers } from '../../workers.ts';
import { attend } from '../attend.ts';
import { HeldCall } from '../held-call.ts';
import type { WorkerParts } from '../worker-parts.ts';
import { instance, LATER, NOBODY_BEFORE, sharedMemory } from '../workers.fixture.ts';

const ME = { instanceId: 'one', owner: 'one/1' };
const OTHER = { instanceId: 'two', owner: 'two/1' };
const shared = sharedMemory();
const { leases, store } = shared;
let made: Awaited<ReturnType<typeof instance>>;
let ran: unknown[] = [];

beforeAll(async () => {
  made = await instance('one', shared);
  for (const side_effect_policy of ['pure', 'irreversible'] as const)
    await made.tool(side_effect_policy, ({ n }) => ran.push(n), { side_effect_policy });
});
afterAll(() => made.close());
beforeEach(() => {
  ran = [];
});

function partsOf(more: Partial<WorkerParts> = {}): WorkerParts {
  const { parts, queue, accepting: runCall, intake, limits } = made;
  return { ...parts, ...NOBODY_BEFORE, records: store, leases, queue, runCall, intake, limits, ...more };
}

/** A call that was accepted and that no worker has taken. */
async function accepted(tool_id: 'pure' | 'irreversible' = 'pure') {
  const record = await made.accept({ tool_id, parameters: { n: 1 }, ...LATER });
  return { record, held: new HeldCall(record) };
}
const rowOf = ({ invocationId }: { readonly invocationId: string }) => store.findInvocation('acme', invocationId);

describe('a worker that takes up a call', () => {
  test('ORC-01 runs it under a lease that is given back, with the slot of its agent', async () => {
    const { record, held } = await accepted();
    expect(await attend(partsOf(), ME, held)).toEqual({ done: true });
    expect(await rowOf(record)).toMatchObject({ state: 'COMPLETED', fence: 1 });
    expect(await leases.find(record)).toBeUndefined();
    expect(held.lease).toMatchObject({ fence: 1, begun: false });
    const slots = Array.from({ length: 4 }, () => made.parts.running.slots.take('acme\ndid:agent:a', 4));
    expect(slots).not.toContain(undefined);
    for (const slot of slots) slot?.free();
    // Over: it is not run again.
    expect(await attend(partsOf(), ME, new HeldCall(record))).toEqual({ done: true });
    expect(ran).toEqual([1]);
  });

  test('ORC-06.4 leaves it while another holds it, while it still runs here, and while the store is away', async () => {
    const { record, held } = await accepted();
    const running = new RunningCalls();
    Object.assign(running, { find: () => ({}) });
    expect(await attend(partsOf({ running }), ME, held)).toEqual({ left: true });
    expect(await leases.find(record)).toBeUndefined();
    await leases.take(record, OTHER, 60_000);
    expect(await attend(partsOf(), ME, held)).toEqual({ left: true });
    const { log, lines } = notingLog();
    const away = { ...leases, take: () => Promise.reject(new ToolLayerError('E3812', 'away')) };
    expect(await attend(partsOf({ leases: away, log }), ME, held)).toEqual({ left: true });
    expect(lines).toEqual([
      `warn call-not-attended ${JSON.stringify({ invocation_id: record.invocationId, reason: 'away' })}`,
    ]);
    expect(ran).toEqual([]);
  });

  test('PIPE-09 ORC-01 does not end it while a repetition of it is under way here, and runs it afterwards', async () => {
    const { record, held } = await accepted('irreversible');
    const { running } = made.parts;
    const repetition = {} as OngoingCall;
    const repeated = {
      ...leases,
      take: (...given: Parameters<CallLeaseStore['take']>) => {
        running.add('acme', record.invocationId, repetition);
        return leases.take(...given);
      },
    };
    expect(await attend(partsOf({ leases: repeated }), ME, held)).toMatchObject({ roomAfterMs: 1_000 });
    expect(await rowOf(record)).toMatchObject({ state: 'AUTHORIZED' });
    running.remove(repetition);
    expect(await attend(partsOf(), ME, new HeldCall(record))).toEqual({ done: true });
    expect(await rowOf(record)).toMatchObject({ state: 'COMPLETED' });
    expect(ran).toEqual([1]);
  });

  test('PIPE-06 ORC-01 a cancel that another instance asked for while there was no room ends it, and it never runs', async () => {
    const { record, held } = await accepted();
    const slots = Array.from({ length: 4 }, () => made.parts.running.slots.take('acme\ndid:agent:a', 4));
    const cancelled = {
      ...leases,
      take: async (...given: Parameters<CallLeaseStore['take']>) => {
        const lease = await leases.take(...given);
        expect(await leases.notifyHolder(record, { cancel: 'enough' })).toBe(true);
        return lease;
      },
    };
    expect(await attend(partsOf({ leases: cancelled }), ME, held)).toMatchObject({ waitsForSlotOf: expect.anything() });
    for (const slot of slots) slot?.free();
    expect(await attend(partsOf(), OTHER, new HeldCall(record))).toEqual({ done: true });
    expect(await rowOf(record)).toMatchObject({ failure: { code: 'E3805', message: expect.stringMatching('enough') } });
    expect(ran).toEqual([]);
  });

  test('OPS-03 is closed once: its queue, and the mark of its instance', async () => {
    const did: unknown[] = [];
    const forgetInstance = async (...given: unknown[]) => void did.push(given[0]);
    const queue = { ...made.queue, close: async () => void did.push('queue') };
    const workers = createWorkers(partsOf({ leases: { ...leases, forgetInstance }, queue }));
    await Promise.all([workers.close(), workers.close(), workers[Symbol.asyncDispose]()]);
    expect(did).toEqual(['queue', 'one']);
  });

  test('PIPE-06 ends it without a run when a cancel was left for the holder before, or came here first', async () => {
    const left = await accepted();
    await leases.take(left.record, OTHER, 60_000);
    await leases.notifyHolder(left.record, { cancel: 'not needed' });
    await leases.putBack(left.record, OTHER.owner, 1, false);
    expect(await attend(partsOf(), ME, left.held)).toEqual({ done: true });
    const here = await accepted();
    here.held.cancel('changed my mind');
    expect(here.held.cancelled).toEqual({ reason: 'changed my mind' });
    expect(await attend(partsOf(), ME, here.held)).toEqual({ done: true });
    const plain = await accepted();
    plain.held.cancel(undefined);
    await attend(partsOf(), ME, plain.held);
    for (const [{ record }, message] of [
      [left, 'The call was cancelled before it ran. Reason given: not needed'],
      [here, 'The call was cancelled before it ran. Reason given: changed my mind'],
      [plain, 'The call was cancelled before it ran.'],
    ] as const)
      expect(await rowOf(record)).toMatchObject({ state: 'ABORTED', failure: { code: 'E3805', message } });
    expect(ran).toEqual([]);
  });

  test('ORC-06.4 does not run again what may have run and must not, and ends it as unknown under its own lease', async () => {
    const { record, held } = await accepted('irreversible');
    await leases.take(record, OTHER, 0);
    await leases.begin(record, OTHER.owner, 1);
    expect(await attend(partsOf(), ME, held)).toEqual({ done: true });
    expect(await rowOf(record)).toMatchObject({ state: 'ABORTED', failure: { code: 'E3804' }, fence: 2 });
    expect(ran).toEqual([]);
    const safe = await accepted();
    await leases.take(safe.record, OTHER, 0);
    await leases.begin(safe.record, OTHER.owner, 1);
    await attend(partsOf(), ME, safe.held);
    expect(await rowOf(safe.record)).toMatchObject({ state: 'COMPLETED', fence: 2 });
  });

  test('PIPE-08 puts it back when it makes way or has no slot, and says which', async () => {
    const way = await accepted();
    way.held.makeWay('later');
    expect(await attend(partsOf(), ME, way.held)).toMatchObject({ putBack: { invocationId: way.record.invocationId } });
    expect(await leases.take(way.record, OTHER, 0)).toMatchObject({ fence: 2, preemptions: 1, begun: false });
    const agent = 'acme\ndid:agent:a';
    const slots = Array.from({ length: 4 }, () => made.parts.running.slots.take(agent, 4));
    const full = await accepted();
    expect(await attend(partsOf(), ME, full.held)).toEqual({ waitsForSlotOf: agent });
    for (const slot of slots) slot?.free();
    expect(await leases.find(full.record)).toBeUndefined();
    expect(ran).toEqual([]);
    // Its slot is kept with it: it needs no other.
    const [own, ...others] = Array.from({ length: 4 }, () => made.parts.running.slots.take(agent, 4));
    full.held.slot = own;
    expect(await attend(partsOf(), ME, full.held)).toEqual({ done: true });
    for (const slot of others) slot?.free();
    expect(ran).toEqual([1]);
  });

  test('AUD-01.10 PIPE-08.5 a run that made way is on record with its instance, its count and its owner', async () => {
    const { record, held } = await accepted();
    await leases.take(record, OTHER, 60_000);
    await leases.putBack(record, OTHER.owner, 1, true);
    const runCall: WorkerParts['runCall'] = async () => {
      held.makeWay('urgent');
      return { ...record, state: 'EXECUTING' };
    };
    expect(await attend(partsOf({ runCall }), ME, held)).toMatchObject({ putBack: { state: 'AUTHORIZED' } });
    const event = (await made.eventsOf(record.invocationId)).at(-1);
    expect(event?.type).toBe('ai.agent.tool.preempted');
    expect(event?.data).toEqual({
      agent_did: 'did:agent:a',
      capabilities: [],
      door: 'library',
      input_hash: record.inputHash,
      instance_id: 'one',
      invocation_id: record.invocationId,
      preemptions: 2,
      state: 'EXECUTING',
      tenant_id: 'acme',
      tool_id: 'pure',
      tool_version: '1.0.0',
    });
    expect(await leases.take(record, OTHER, 0)).toMatchObject({ preemptions: 2 });
  });

  test('PIPE-08 a run that found no room, cannot run here or lost its lease has ended in none of these', async () => {
    /** Runs the call as the pipeline does whose stages end with this failure. */
    const endsWith = async (code: 'E3303' | 'E3901' | undefined, more: Partial<WorkerParts> = {}) => {
      const { record, held } = await accepted();
      const failed = code === undefined ? undefined : failure(code, 'No.', { retryAfterMs: 70 });
      const counted: (boolean | undefined)[] = [];
      const runCall: WorkerParts['runCall'] = async (_request, resumed) => {
        if (code === undefined) held.lose();
        counted.push(resumed?.hold?.counts(failed, 0));
        return { ...record, state: 'EXECUTING' };
      };
      const end = await attend(partsOf({ runCall, ...more }), ME, held);
      return { end, counted, record, lease: await leases.find(record) };
    };
    const full = await endsWith('E3303');
    expect(full).toMatchObject({ end: { roomAfterMs: 70, record: { invocationId: full.record.invocationId } } });
    expect(full).toMatchObject({ counted: [false], lease: undefined });
    const late = await endsWith('E3303', { limits: { ...made.limits, roomMsMax: -1 } });
    expect(late).toMatchObject({ end: { done: true }, counted: [true] });
    const unable = await endsWith('E3901');
    expect(unable).toMatchObject({ end: { leftToOthers: true }, counted: [false], lease: { live: false } });
    const lost = await endsWith(undefined);
    expect(lost).toMatchObject({ end: { left: true }, counted: [false], lease: { live: true } });
  });
});

test('ORC-06 PIPE-07 a call is resumed as its row says: who asked, what was approved, and whether a run was cut off', async () => {
  const seen: unknown[] = [];
  const resume = async (more: object, approval?: object, waits: object = {}) => {
    const { record, held } = await accepted();
    const { waiting } = record;
    if (waiting === undefined) throw new Error('the call does not wait');
    const row = { ...record, waiting: { ...waiting, ...waits }, ...more };
    await made.parts.ledger.commit({ record: row, events: [], durability: 'synchronous' });
    const runCall: WorkerParts['runCall'] = async ({ request, caller }, resumed) => {
      const { hold, ...known } = resumed ?? {};
      seen.push([request, { ...caller, signal: caller.signal === held.controller.signal }, known, hold?.fence]);
      // It made way, and ended all the same.
      held.makeWay('too late');
      return { ...row, state: 'COMPLETED' };
    };
    expect(await attend(partsOf({ runCall }), ME, held, approval as never)).toEqual({ done: true });
    const { invocationId, acceptedAt, nonce = invocationId } = record;
    return { request: waiting.request, resumed: { invocationId, nonce, acceptedAt, waiting: row.waiting } };
  };
  const plain = await resume({});
  const again = await resume({ state: 'EXECUTING' });
  const approval = { approvalId: 'a', expiresAt: 1 };
  const questions = { elicitation: {} };
  const approved = await resume({}, approval, { questions });
  const caller = { door: 'library', signal: true };
  expect(seen).toEqual([
    [plain.request, caller, plain.resumed, 1],
    [again.request, caller, { ...again.resumed, cutOff: true }, 1],
    [approved.request, { ...caller, questions }, { ...approved.resumed, approval }, 1],
  ]);
});

describe('a cancel of a call that does not run here', () => {
  /** Workers that were not started, over these parts. */
  function workersOf(more: Partial<WorkerParts> = {}) {
    const removed: unknown[] = [];
    const remove = async ({ invocationId }: { readonly invocationId: string }) => removed.push(invocationId) > 0;
    const { log, lines } = notingLog();
    const workers = createWorkers(partsOf({ queue: { ...made.queue, remove }, log, ...more }));
    return { workers, removed, lines };
  }

  test('PIPE-06 ends what waits and never ran as such, and takes its job out of the queue', async () => {
    const { workers, removed } = workersOf();
    for (const [reason, message] of [
      ['not needed', 'The call was cancelled before it ran. Reason given: not needed'],
      [undefined, 'The call was cancelled before it ran.'],
    ] as const) {
      const { record } = await accepted('irreversible');
      expect(await workers.cancel(record, reason)).toBe('ended');
      expect(await rowOf(record)).toMatchObject({ state: 'ABORTED', failure: { code: 'E3805', message }, fence: 1 });
      expect(await leases.find(record)).toBeUndefined();
      expect(removed.at(-1)).toBe(record.invocationId);
      // Over: nothing more is ended.
      expect(await workers.cancel(record, reason)).toBe('unreachable');
    }
    const { record } = await accepted();
    const away = { ...made.queue, remove: () => Promise.reject(new ToolLayerError('E3812', 'away')) };
    const { workers: others, lines } = workersOf({ queue: away });
    expect(await others.cancel(record, undefined)).toBe('ended');
    await expect.poll(() => lines, { interval: 1 }).toEqual(['debug job-not-removed {"reason":"away"}']);
  });

  test('PIPE-06 PIPE-13 ends as unknown what may have run and must not run again, also where its server ran it', async () => {
    const tasks: unknown[] = [];
    const cancelServerTask = async ({ invocationId }: { readonly invocationId: string }, task: unknown) =>
      void tasks.push([invocationId, task]);
    const { workers } = workersOf({ cancelServerTask });
    const begun = async (tool: 'pure' | 'irreversible') => {
      const { record } = await accepted(tool);
      await leases.take(record, OTHER, 0);
      await leases.begin(record, OTHER.owner, 1);
      expect(await workers.cancel(record, 'stop')).toBe('ended');
      return rowOf(record);
    };
    expect(await begun('irreversible')).toMatchObject({
      failure: { code: 'E3804', message: expect.stringMatching(/cut off.*Reason given: stop$/) },
    });
    expect(await begun('pure')).toMatchObject({ failure: { code: 'E3805' } });
    expect(tasks).toEqual([]);
    const { record } = await accepted('irreversible');
    const serverTask = { taskId: 'task' } as never;
    const row = { ...record, waiting: { ...record.waiting, serverTask } } as typeof record;
    await made.parts.ledger.commit({ record: row, events: [], durability: 'synchronous' });
    expect(await workers.cancel(record, undefined)).toBe('ended');
    expect(await rowOf(record)).toMatchObject({ failure: { code: 'E3804' } });
    expect(tasks).toEqual([[record.invocationId, serverTask]]);
  });

  test('PIPE-06 PIPE-13 that its last holder did not live to carry out ends it as unknown, and ends the task of its server', async () => {
    const tasks: unknown[] = [];
    const cancelServerTask = async (_record: unknown, task: unknown) => void tasks.push(task);
    const { record } = await accepted('irreversible');
    const serverTask = { taskId: 'task' } as never;
    const row = { ...record, state: 'EXECUTING', waiting: { ...record.waiting, serverTask } } as typeof record;
    await made.parts.ledger.commit({ record: row, events: [], durability: 'synchronous' });
    await leases.take(record, OTHER, 60_000);
    await leases.notifyHolder(record, { cancel: 'stop' });
    await leases.endFormerLives({ ...OTHER, owner: 'two/2' });
    expect(await attend(partsOf({ cancelServerTask }), ME, new HeldCall(record))).toEqual({ done: true });
    expect(await rowOf(record)).toMatchObject({ failure: { code: 'E3804', message: expect.stringMatching(/stop$/) } });
    expect([tasks, ran]).toEqual([[serverTask], []]);
  });

  test('PIPE-06 reaches its holder or its instance, and says when it reaches nobody', async () => {
    const asked: unknown[] = [];
    const noting = {
      ...leases,
      notifyHolder: async (...given: Parameters<CallLeaseStore['notifyHolder']>) => {
        asked.push(given[1]);
        return leases.notifyHolder(...given);
      },
      notifyInstance: async (...given: unknown[]) => void asked.push(given.slice(1)),
    };
    const { workers } = workersOf({ leases: noting });
    const { record } = await accepted();
    await leases.take(record, OTHER, 60_000);
    expect(await workers.cancel(record, 'stop')).toBe('notified');
    expect(await workers.cancel(record, undefined)).toBe('notified');
    const nobody = { ...leases, take: async () => undefined, notifyHolder: async () => false };
    expect(await workersOf({ leases: nobody }).workers.cancel(record, undefined)).toBe('unreachable');
    const { waiting: _waiting, ...runs } = { ...record, state: 'EXECUTING' as const };
    expect(await workers.cancel({ ...runs, instanceId: 'two' }, 'stop')).toBe('notified');
    expect(await workers.cancel({ ...runs, instanceId: 'two' }, undefined)).toBe('notified');
    expect(await workers.cancel({ ...runs, instanceId: 'one' }, 'stop')).toBe('unreachable');
    expect(asked).toEqual([{ cancel: 'stop' }, { cancel: '' }, ['two', 'stop'], ['two', '']]);
    expect(await rowOf(record)).toMatchObject({ state: 'AUTHORIZED' });
    // Its row went on under a later lease meanwhile.
    const fenced = { ...store, fenceInvocation: async () => undefined };
    const late = await accepted();
    expect(await workersOf({ records: fenced }).workers.cancel(late.record, undefined)).toBe('unreachable');
    expect(await leases.find(late.record)).toBeUndefined();
  });
});

test('PIPE-08 the wait for room is what the failure says, between its bounds, and for a circuit the longest', async () => {
  const { held } = await accepted();
  const waitAfter = (code: 'E3303' | 'E3401' | 'E3502', retryAfterMs?: number, attempts = 0, mayWait = true) => {
    const more = retryAfterMs === undefined ? {} : { retryAfterMs };
    const hold = held.hold(leases, ME.owner, 1, { free: () => undefined } as never, mayWait);
    const counts = hold.counts(failure(code, 'No.', more), attempts);
    return [counts, held.roomMs];
  };
  expect(waitAfter('E3303')).toEqual([false, 1_000]);
  expect(waitAfter('E3401')).toEqual([false, 30_000]);
  expect(waitAfter('E3401', 400)).toEqual([false, 400]);
  expect(waitAfter('E3303', 1)).toEqual([false, 50]);
  expect(waitAfter('E3303', 99_000)).toEqual([false, 30_000]);
  expect(waitAfter('E3502')).toEqual([true, undefined]);
  expect(waitAfter('E3303', 1, 1)).toEqual([true, undefined]);
  expect(waitAfter('E3303', 1, 0, false)).toEqual([true, undefined]);
  held.lease = { fence: 1, begun: false, preemptions: 19, extendedMs: 0 };
  const hold = held.hold(leases, ME.owner, 1, { free: () => undefined } as never, true);
  expect([hold.counts(failure('E3901', 'No.'), 0), held.isUnable]).toEqual([false, true]);
  held.lease = { ...held.lease, preemptions: 20 };
  expect([hold.counts(failure('E3901', 'No.'), 0), held.isUnable]).toEqual([true, false]);
  // Not its holder: it must not begin, and nothing of it counts.
  expect([await hold.begin(), held.isLost, hold.counts(undefined, 0)]).toEqual([false, true, false]);
});
