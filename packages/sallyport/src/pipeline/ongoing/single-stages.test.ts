import { setImmediate } from 'node:timers/promises';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { CallSoFar } from '../call.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { noState, throughStages } from '../run.ts';
import type { AnyStage } from '../stage.ts';
import { admit } from '../stages/admit.ts';
import { forWorker } from '../stages/attempts/for-worker.ts';
import { prepare } from '../stages/prepared/prepare.ts';
import { reserve } from '../stages/reserve.ts';
import { resolve } from '../stages/resolve.ts';
import { settle } from '../stages/settle.ts';
import { newOngoingCall, type OngoingCall, type Resumed } from './ongoing-call.ts';
import { agentKey, RunningCalls } from './running-calls.ts';

const NOW = 1_700_000_000_000;
const clock = { now: () => NOW, monotonic: () => 0 };
const CLAIMS = { tenant_id: 'acme', agent_did: 'did:agent:a' } as CapabilityClaims;
const PRINCIPAL = { tenantId: 'acme', agentDid: 'did:agent:a', roles: ['agent'], trust: 'trusted' };
const RESUMED = {
  invocationId: 'waited',
  nonce: 'nonce',
  acceptedAt: 1,
  waiting: { claims: CLAIMS, since: 1 },
} as unknown as Resumed;

/** What one stage makes of a call of which so much is established. */
function stageEnd(
  stage: AnyStage,
  {
    resumed,
    rehearsal = false,
    request,
    ...call
  }: Partial<CallSoFar> & { resumed?: Partial<Resumed>; rehearsal?: boolean },
  change: (ongoing: OngoingCall) => void = () => undefined,
): Promise<object> {
  const asked = { request: { tool_id: 'tool', ...request }, caller: { door: 'library' as const } };
  const ongoing = newOngoingCall(asked, 0, rehearsal, resumed && { ...RESUMED, ...resumed });
  Object.assign(ongoing.call, call);
  change(ongoing);
  return stage.run(ongoing.call as never, ongoing);
}

const LATER = { execution_options: { async_mode: true } };
const request = (more: Partial<ToolInvokeRequest>): ToolInvokeRequest => ({ tool_id: 'tool', ...more });

describe('admit', () => {
  async function admitting(changes: { workers?: unknown; running?: unknown } = {}) {
    const { parts } = await pipeline();
    const running = new RunningCalls();
    const stage = admit({ clock, limits: parts.limits, running, ...changes } as never);
    return (call: Parameters<typeof stageEnd>[1]) => stageEnd(stage, call);
  }

  test('PIPE-08 a full layer takes no new call; one that resumes or takes something back was counted before', async () => {
    const { parts } = await pipeline();
    const full = await admitting({ running: { sizeWithoutWaiting: parts.limits.callsMax } });
    expect(await full({})).toMatchObject({ code: 'E3803', retryAfterMs: 250 });
    expect(await full({ resumed: {} })).toMatchObject({ invocationId: 'waited', acceptedAt: 1 });
    expect(await full({ onBehalfOf: CLAIMS })).toMatchObject({ acceptedAt: NOW });
    const room = await admitting({ running: { sizeWithoutWaiting: parts.limits.callsMax - 1 } });
    expect(await room({})).toMatchObject({ invocationId: expect.stringMatching(/-/), acceptedAt: NOW });
  });

  test('PIPE-12 workers without room refuse a call for later by its priority, and no other call', async () => {
    const asked: unknown[] = [];
    const full = failure('E3803', 'The queue is full.');
    const refuses = (priority: string): Failure => {
      asked.push(priority);
      return full;
    };
    const end = await admitting({ workers: { refuses } });
    expect(await end({ request: request(LATER) })).toBe(full);
    const urgent = { execution_options: { async_mode: true, priority: 'high' as const } };
    expect(await end({ request: request(urgent) })).toBe(full);
    expect(await end({ request: request(LATER), resumed: {} })).toHaveProperty('invocationId');
    expect(await end({ request: request({ execution_options: { priority: 'high' } }) })).toHaveProperty('invocationId');
    expect(asked).toEqual(['normal', 'high']);
  });

  test('MOD-02 fields in which a model thinks are taken out, and nothing else', async () => {
    const end = await admitting();
    const parameters = { _tafc_think: 'so', _tafc_think_more: 'then', not_tafc_think: 1, n: 1 };
    expect(await end({ request: request({ parameters }) })).toMatchObject({
      givenParameters: { not_tafc_think: 1, n: 1 },
    });
    const given = (await end({ request: request({ parameters }) })) as { givenParameters: object };
    expect(Object.keys(given.givenParameters)).toEqual(['not_tafc_think', 'n']);
    expect(await end({})).toMatchObject({ givenParameters: {} });
  });

  test('VAL-01 arguments that are too large are refused with the place of each fault', async () => {
    const end = await admitting();
    const refused = await end({ request: request({ parameters: { text: 'x'.repeat(10_001) } }) });
    expect(refused).toMatchObject({ code: 'E3810', details: { faults: [{ path: '/text' }] } });
    expect(await end({ request: request({ parameters: { text: 'x'.repeat(10_000) } }) })).toHaveProperty(
      'invocationId',
    );
  });
});

describe('resolve', () => {
  async function resolving(more: Partial<ToolManifest>, found: object = {}) {
    const used: unknown[] = [];
    const tool = { manifest: manifest('tool', more) };
    const stage = resolve({
      identify: async () => ({ principal: PRINCIPAL, claims: CLAIMS }),
      identifyAgain: (claims: object) => ({ principal: PRINCIPAL, claims, ...(claims === CLAIMS ? {} : { refused }) }),
      visible: { findAnywhere: () => ({ tool, warnings: [], ...found }) },
      registry: { noteUse: (each: unknown) => used.push(each) },
    } as never);
    const end = (call: Parameters<typeof stageEnd>[1]) => stageEnd(stage, { givenParameters: { n: 1 }, ...call });
    return { end, tool, used };
  }
  const refused = failure('E3208', 'Revoked.');

  test('REG-17.1 the call that takes something back is not compared with the version of its agent again', async () => {
    const { end, tool } = await resolving({ compatibility_range: '^2.0.0' });
    const context = { agent_did: 'did:agent:a', tenant_id: 'acme', agent_version: '1.0.0' };
    const old = { request: request({ agent_context: context }) };
    expect(await end(old)).toMatchObject({ refused: { code: 'E3006' }, established: { principal: PRINCIPAL, tool } });
    expect(await end({ ...old, onBehalfOf: CLAIMS })).toMatchObject({ tool });
  });

  test('PRM-01 a call whose token was revoked while it waited is refused as its own', async () => {
    const { end } = await resolving({});
    const waiting = { claims: { ...CLAIMS }, since: 1 } as unknown as Resumed['waiting'];
    expect(await end({ resumed: { waiting } })).toEqual({
      refused,
      established: { principal: PRINCIPAL, claims: CLAIMS },
    });
    expect(await end({ resumed: {} })).toMatchObject({ principal: PRINCIPAL });
  });

  test('PIPE-12 a tool that runs only as a task, or never as one, says so; a call that resumes or takes back is not asked', async () => {
    for (const [task_support, wrong, right] of [
      ['required', {}, LATER],
      ['forbidden', LATER, {}],
    ] as const) {
      const { end, tool } = await resolving({ execution_config: { task_support } });
      expect(await end({ request: request(wrong) })).toMatchObject({
        refused: {
          code: 'E3822',
          message: expect.stringMatching(task_support === 'required' ? /only as an asynchronous/ : /only while its/),
          details: { task_support },
        },
        established: { principal: PRINCIPAL, claims: CLAIMS, tool },
      });
      expect(await end({ request: request(right) })).toMatchObject({ tool });
      expect(await end({ request: request(wrong), resumed: {} })).toMatchObject({ tool });
      expect(await end({ request: request(wrong), onBehalfOf: CLAIMS })).toMatchObject({ tool });
    }
    const { end, tool } = await resolving({ execution_config: { task_support: 'optional' } });
    for (const either of [{}, LATER]) expect(await end({ request: request(either) })).toMatchObject({ tool });
  });

  test('the use of a tool is noted, but not by a dry run', async () => {
    const { end, tool, used } = await resolving({});
    await end({ rehearsal: true });
    expect(used).toEqual([]);
    await end({});
    expect(used).toEqual([tool]);
  });

  test('VIS-02 what view and activation say of a call is established, and warnings follow those before', async () => {
    const [before, later] = [{ code: 'before' }, { code: 'later' }];
    const { end } = await resolving(
      {},
      { warnings: [later], rule: { default_arguments: { n: 2, m: 2 } }, overrides: { a: 1 }, overridesUser: 'u' },
    );
    expect(await end({ warnings: [before] as never })).toMatchObject({
      warnings: [before, later],
      givenParameters: { n: 1, m: 2 },
      overrides: { a: 1 },
      overridesUser: 'u',
    });
    const plain = await (await resolving({})).end({});
    expect(Object.keys(plain)).toEqual(['principal', 'claims', 'tool', 'givenParameters']);
  });
});

describe('reserve', () => {
  const taking = async (monotonic: () => number = () => 0) => {
    const { parts } = await pipeline({ clock: { ...clock, monotonic } });
    const tool = { manifest: manifest('tool'), tenantId: 'acme' };
    const grant = { limits: { timeoutMs: 1000 }, credentials: [] };
    const call = { principal: PRINCIPAL, claims: CLAIMS, tool, grant } as never as Partial<CallSoFar>;
    return { parts, call, stage: reserve(parts) };
  };
  const agent = agentKey(PRINCIPAL as never);

  test('PIPE-08.2 says how long the call waited for its slot, also when it got none', async () => {
    for (const isGone of [false, true]) {
      let now = 1_000;
      const { parts, call, stage } = await taking(() => now);
      const held = Array.from({ length: parts.limits.callsPerAgentMax }, () => parts.running.slots.take(agent, 4));
      const gone = new AbortController();
      const end = stageEnd(stage, call, ({ controller }) =>
        gone.signal.addEventListener('abort', () => controller.abort(failure('E3805', 'Cancelled.'))),
      );
      await setImmediate();
      expect(parts.running.slots.waiting).toBe(1);
      now = 1_500;
      if (isGone) gone.abort();
      else held[0]?.free();
      if (isGone) expect(await end).toMatchObject({ refused: { failed: true }, established: { slotWaitMs: 500 } });
      else expect(await end).toMatchObject({ slotWaitMs: 500 });
    }
  });

  test('ORC-01 a call takes the slot that its worker holds, and one that takes back runs in that of the original', async () => {
    const { parts, call, stage } = await taking();
    const slot = { free: () => undefined, without: <T>(work: () => Promise<T>) => work() };
    const hold = { fence: 1, slot, begin: async () => true, counts: () => true };
    expect(await stageEnd(stage, { ...call, resumed: { hold } })).toEqual({ slot, slotWaitMs: 0 });
    expect(await stageEnd(stage, { ...call, onBehalfOf: CLAIMS })).toEqual({ slot: undefined, slotWaitMs: 0 });
    expect(parts.running.slots.take(agent, 1)).toBeDefined();
  });
});

describe('what waits for a worker, and what is fetched for a call', () => {
  test('ORC-03 a call waits with the approval that it has already, and with the question that was answered', () => {
    const plain = { confirmed: false, approvedBy: undefined, question: undefined };
    expect(Object.entries(forWorker(plain))).toEqual(Object.entries({ for: 'worker', confirmed: false }));
    const approved = { confirmed: true, approvedBy: 'did:user:u', question: 'Really?' };
    expect(forWorker(approved)).toEqual({ for: 'worker', ...approved });
  });

  test('PRM-11 credentials are asked for with the token that the caller showed, or else with that of the request', async () => {
    const asked: unknown[] = [];
    const read = async (_tenant: string, _names: readonly string[], { token }: { token?: string }) => {
      asked.push(token);
      return new Map();
    };
    const stage = prepare({ secrets: { read } } as never);
    const grant = { credentials: ['key'] };
    const call = { principal: PRINCIPAL, grant, tool: { manifest: manifest('tool') } } as never as Partial<CallSoFar>;
    await stageEnd(stage, { ...call, request: request({ capability_token: 'of the request' }) });
    const shown = { door: 'rest', token: 'shown' } as const;
    await stageEnd(stage, { ...call, caller: shown, request: request({ capability_token: 'of the request' }) });
    expect(asked).toEqual(['of the request', 'shown']);
  });
});

describe('settle', () => {
  async function settling(more: Partial<ToolManifest>, established: object = {}) {
    const seen: unknown[] = [];
    const { parts } = await pipeline();
    const note = (name: string) => async () => {
      await setImmediate();
      seen.push(name);
    };
    const stage = settle({
      ...parts,
      gates: { completed: note('completed') } as never,
      outputs: { seen: note('compared') } as never,
      checkpoints: { ...parts.checkpoints, ended: note('checkpoints ended') },
    });
    const ran = { result: 1 };
    const tool = { manifest: manifest('tool', more) };
    const given = { principal: PRINCIPAL, tool, ran, outcome: ran, ...established };
    let undo: OngoingCall['undo'] | undefined;
    const end = await stageEnd(stage, given as never, (ongoing) => {
      if ('saved' in established) ongoing.toolRun.noteCheckpoint({} as never);
      undo = ongoing.undo;
    });
    seen.push('on record');
    await undo?.recorded(silentLog);
    seen.push('answered');
    return { end, seen };
  }

  test('MOD-05 a call that completed is noted in its session before it is answered', async () => {
    expect(await settling({})).toEqual({ end: { settled: true }, seen: ['completed', 'on record', 'answered'] });
  });

  test('PIPE-10 a tool that says it is deterministic is compared, but not where it reads documents or a context, which differ', async () => {
    expect((await settling({ deterministic: true })).seen).toContain('compared');
    expect((await settling({ deterministic: true }, { documents: [] })).seen).not.toContain('compared');
    const reads = { deterministic: true, execution_config: { session_context: true } };
    expect((await settling(reads)).seen).not.toContain('compared');
    expect((await settling({ deterministic: false })).seen).not.toContain('compared');
  });

  test('STA-01 the checkpoints of a call that saved some, or took over those of another, end once it is on record', async () => {
    const ended = ['completed', 'on record', 'checkpoints ended', 'answered'];
    expect((await settling({}, { saved: 1 })).seen).toEqual(ended);
    const resumes = { request: request({ checkpoint_config: { resume_from_checkpoint_id: 'c' } }) };
    expect((await settling({}, resumes)).seen).toEqual(ended);
  });
});

describe('the loop', () => {
  const stage = (name: string, run: AnyStage['run'], more: Partial<AnyStage> = {}): AnyStage => ({
    name,
    run,
    ...more,
  });
  const through = (stages: AnyStage[], rehearsal = false) => {
    const asked = { request: { tool_id: 'tool' }, caller: { door: 'library' as const } };
    const ongoing = newOngoingCall(asked, 0, rehearsal);
    return { ongoing, end: () => throughStages(stages)(ongoing, noState) };
  };

  test('PIPE-06 begins no further stage of a call that has ended', async () => {
    const ran: string[] = [];
    const { ongoing, end } = through([
      stage('one', async () => {
        ran.push('one');
        ongoing.controller.abort(failure('E3805', 'Cancelled.'));
        return {};
      }),
      stage('two', async () => {
        ran.push('two');
        return {};
      }),
    ]);
    expect(await end()).toMatchObject({ stage: 'two' });
    expect(ran).toEqual(['one']);
  });

  test('PIPE-12 a call that is set aside while its server runs it has begun, and one before it runs has not', async () => {
    const waits = { for: 'worker', confirmed: false } as const;
    const { ongoing, end } = through([stage('execute', async () => ({ waits }))]);
    expect(await end()).toEqual({ state: 'AUTHORIZED', waits });
    ongoing.transitions.push({ state: 'EXECUTING', at: NOW });
    expect(await end()).toEqual({ state: 'EXECUTING', waits });
  });

  test('PIPE-15 a dry run passes by stages that take something, and ends before the tool would run', async () => {
    const ran: string[] = [];
    const note = (name: string, more: Partial<AnyStage>) => stage(name, async () => ({ [name]: ran.push(name) }), more);
    const stages = [note('asks', {}), note('takes', { takes: 'something' })];
    expect(await through(stages, true).end()).toEqual({ state: 'AUTHORIZED' });
    expect(ran).toEqual(['asks']);
    expect(await through(stages).end()).toEqual({ state: 'COMPLETED' });
    expect(ran).toEqual(['asks', 'asks', 'takes']);
  });

  test('ORC-03 who has to act on the record of a call is notified of it before its caller', async () => {
    const { add, call, parts } = await pipeline();
    await add(manifest('tool'), () => 'done');
    const seen: string[] = [];
    parts.running.onRecord(({ state }, hasWaited) => void seen.push(`${state} ${hasWaited}`));
    await call({ tool_id: 'tool', parameters: { n: 1 } }).then(() => seen.push('answered'));
    expect(seen).toEqual(['COMPLETED false', 'answered']);
  });

  test('the time of each stage is measured where somebody asks for it', async () => {
    const times: [string, number][] = [];
    const { add, call } = await pipeline({ onStage: (name, ms) => void times.push([name, ms]) });
    await add(manifest('tool'), () => 'done');
    const since = performance.now();
    expect(await call({ tool_id: 'tool', parameters: { n: 1 } })).toMatchObject({ result: 'done' });
    const whole = performance.now() - since;
    expect(times.map(([name]) => name).slice(0, 3)).toEqual(['admit', 'resolve', 'validate']);
    expect(times.every(([, ms]) => ms >= 0 && ms <= whole)).toBe(true);
  });
});
