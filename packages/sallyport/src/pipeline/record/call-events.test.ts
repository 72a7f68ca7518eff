import { type Failure, failure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import { expect, test } from 'vitest';
import type { LifecycleState } from '../../../api/schemas/invocation.ts';
import { type ChainHead, EMPTY_CHAIN, link } from '../../audit/chain.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import { holdEvents } from '../../domain/event/held-events.ts';
import type { Grant } from '../../domain/invocation/grant.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import { packed, rowsOf } from '../../storage/postgres/ledger/packed-events.ts';
import type { CallSoFar } from '../call.ts';
import { type EndedCall, establish, newOngoingCall, type OngoingCall } from '../ongoing/ongoing-call.ts';
import { eventsOf } from './call-events.ts';

const HOSTILE = `nul \0 quote " \\ lone \ud800 🙂 \u2028`;

const grant: Grant = {
  filesystem: [{ path: `/tmp/${HOSTILE}`, mode: 'ro' }],
  network: [],
  credentials: ['key'],
  limits: { timeoutMs: 1, cpuMillicores: 1, memoryMb: 1, outputBytesMax: 1 },
};

function ongoing(): OngoingCall {
  const request = { tool_id: 'weather', parameters: {} };
  const traceparent = `00-${'a'.repeat(32)}-${'c'.repeat(16)}-01`;
  const made = newOngoingCall({ request, caller: { door: 'library', traceparent } }, 0, false);
  establish(made.call, { grant });
  const states = ['DECLARED', 'VALIDATED', 'AUTHORIZED', 'EXECUTING', 'COMPLETED'] as const;
  made.transitions.push(...states.map((state, at) => ({ state, at })));
  return made;
}

const least: InvocationRecord = {
  invocationId: 'call-1',
  tenantId: 'acme',
  agentDid: 'did:web:one',
  toolId: 'weather',
  door: 'library',
  state: 'COMPLETED',
  instanceId: 'instance-1',
  warnings: [],
  acceptedAt: 0,
};

const most: InvocationRecord = {
  ...least,
  invocationId: HOSTILE,
  tenantId: HOSTILE,
  agentDid: HOSTILE,
  toolId: HOSTILE,
  calledAs: HOSTILE,
  userDid: HOSTILE,
  sessionId: HOSTILE,
  toolVersion: HOSTILE,
  inputHash: 'a'.repeat(64),
  outputHash: 'b'.repeat(64),
  failure: failure('E3103', HOSTILE, { details: { secret: 'never told' } }),
};

/** The end of a call that was answered with the result of an earlier call. */
const answeredBy = (invocationId: string): EndedCall => ({ state: 'COMPLETED', answered: { ...least, invocationId } });

/** The data of an event as its readers receive it, in canonical JSON. */
const readBack = ({ data }: EventDraft) => JSON.parse(canonicalJson(data));

test('AUD-01 the members of an event stand in canonical order, and its parts make up the whole', () => {
  for (const record of [least, most]) {
    for (const end of [undefined, answeredBy(HOSTILE)]) {
      for (const { data, parts } of eventsOf(ongoing(), record, 0, end)) {
        expect(JSON.stringify(data)).toBe(canonicalJson(data));
        expect({ ...parts?.shared, ...parts?.own }).toEqual(data);
        expect(JSON.stringify(parts?.own)).toBe(canonicalJson(parts?.own));
      }
    }
  }
});

test('AUD-01 PIPE-01.4 each transition says state, hash of the input and capabilities; the end also hash, usage and error', () => {
  const said = eventsOf(ongoing(), most, 0).map(readBack);
  expect(said.map(({ state }) => state)).toEqual(['DECLARED', 'VALIDATED', 'AUTHORIZED', 'EXECUTING', 'COMPLETED']);
  for (const { capabilities, input_hash, trace_id, called_as } of said) {
    expect(capabilities).toEqual([`filesystem:ro:/tmp/${HOSTILE}`, 'credential:key']);
    expect([input_hash, trace_id, called_as]).toEqual(['a'.repeat(64), 'a'.repeat(32), HOSTILE]);
  }
  expect(said.slice(0, -1).some((each) => 'output_hash' in each || 'error' in each || 'duration_ms' in each)).toBe(
    false,
  );
  expect(said.at(-1)).toMatchObject({ output_hash: 'b'.repeat(64), duration_ms: 0, error: { e_code: 'E3103' } });
  expect(said.at(-1).execution_metadata).toMatchObject({ attempts: 0 });
  expect(JSON.stringify(said)).not.toContain('never told');
});

const decided = (made: OngoingCall): OngoingCall => {
  establish(made.call, {
    policyDecision: {
      engine: HOSTILE,
      version: HOSTILE,
      allowed: true,
      policies: [HOSTILE],
      shadow: { allowed: false, policies: [HOSTILE], error: HOSTILE },
    },
    gateDecision: { allowed: true, answer: 'ALLOW', model: HOSTILE, version: 'v', ms: 1 },
    hookVerdicts: [
      { id: 'a', at: 'before', outcome: 'rewrite', ms: 1, input_hash_before: 'c'.repeat(64) },
      { id: 'b', at: 'after', outcome: 'failed', ms: 2, went_on: true },
    ],
  });
  return made;
};

test('PRM-08 PRM-09.4 PIPE-14 what was decided stands in the events, each where it belongs', () => {
  const stated = { ...most, phase: 'autonomous', trust: 'provisional', claimSource: HOSTILE } as const;
  const said = eventsOf(decided(ongoing()), stated, 0).map(readBack);
  for (const data of said)
    expect(data).toMatchObject({ phase: 'autonomous', trust: 'provisional', claim_source: HOSTILE });
  const places = said.map(({ policy_decision, adversarial_policy_decision, hooks }) => [
    policy_decision !== undefined,
    adversarial_policy_decision !== undefined,
    (hooks ?? []).map(({ id }: { id: string }) => id),
  ]);
  expect(places).toEqual([
    [false, false, []],
    [false, false, []],
    [true, true, []],
    [false, false, ['a']],
    [false, false, ['b']],
  ]);
});

test('a call that was refused tells at its end what was decided, and all that hooks said', () => {
  const made = decided(ongoing());
  made.transitions.splice(3, 2, { state: 'DENIED', at: 3 });
  const said = eventsOf(made, { ...most, state: 'DENIED' }, 0)
    .map(readBack)
    .at(-1);
  expect(said).toMatchObject({
    policy_decision: {},
    adversarial_policy_decision: {},
    hooks: [{ id: 'a' }, { id: 'b' }],
  });
});

/** A call that went through these states, and what it established. */
function through(states: readonly LifecycleState[], established: Partial<CallSoFar>, request = {}): OngoingCall {
  const caller = { door: 'library' } as const;
  const made = newOngoingCall({ request: { tool_id: 'weather', parameters: {}, ...request }, caller }, 0, false);
  establish(made.call, established);
  made.transitions.push(...states.map((state, at) => ({ state, at })));
  return made;
}

const REFUSED = ['DECLARED', 'VALIDATED', 'AUTHORIZED', 'DENIED'] as const;
const RAN = ['DECLARED', 'VALIDATED', 'AUTHORIZED', 'EXECUTING', 'COMPLETED'] as const;
const USED_NOTHING = {
  ...{ started_at: '', duration_ms: 0, memory_peak_mb: 0, cpu_used_millicore_seconds: 0, network_bytes_sent: 0 },
  ...{ network_bytes_received: 0, documents_accessed: [], checkpoints_created: [], cached: false },
};
const policyDecision = { engine: 'e', version: 'v', allowed: false, policies: ['p'] };
const gateDecision = { allowed: false, answer: 'DENY', model: 'm', version: 'v', ms: 1 } as const;

test('AUD-01.6 only what let a call through is in AUTHORIZED; a refusal after it says what refused', () => {
  const asks = { ...policyDecision, ask: true } as const;
  const permits = { ...policyDecision, allowed: true };
  const cases = [
    [{ policyDecision, gateDecision }, undefined, undefined],
    [{ policyDecision: asks }, asks, undefined],
    [{ policyDecision: permits, gateDecision: { ...gateDecision, allowed: true } }, permits, { allowed: true }],
    [{}, undefined, undefined],
  ] as const;
  for (const [established, policy, gate] of cases) {
    const [, , authorized, denied] = eventsOf(through(REFUSED, established), least, 0).map(readBack);
    expect(authorized.policy_decision).toEqual(policy);
    if (gate === undefined) expect(authorized).not.toHaveProperty('adversarial_policy_decision');
    else expect(authorized.adversarial_policy_decision).toMatchObject(gate);
    const { policyDecision: made, gateDecision: judged } = established as Partial<CallSoFar>;
    expect(denied.policy_decision).toEqual(made);
    expect(denied.adversarial_policy_decision).toEqual(judged);
  }
});

test('AUD-01 the names and faults that a policy engine gives are cut, and no others', () => {
  const long = 'x'.repeat(201);
  const policies = Array.from({ length: 17 }, () => long);
  const decided = { ...policyDecision, policies, shadow: { allowed: true, policies, error: long } };
  const [decision, short] = [decided, { ...policyDecision, shadow: { allowed: true, policies: [] } }].map(
    (each) => eventsOf(through(REFUSED, { policyDecision: each }), least, 3).map(readBack)[0].policy_decision,
  );
  const cut = Array(16).fill('x'.repeat(200));
  const bounded = {
    ...policyDecision,
    policies: cut,
    shadow: { allowed: true, policies: cut, error: 'x'.repeat(200) },
  };
  expect(decision).toEqual(bounded);
  expect(short).toEqual({ ...policyDecision, shadow: { allowed: true, policies: [] } });
});

test('PIPE-14 the end of a call that did not run says what all hooks said, that of one that ran what those after it said', () => {
  const hookVerdicts = [
    { id: 'a', at: 'before', outcome: 'rewrite', ms: 1 },
    { id: 'b', at: 'after', outcome: 'failed', ms: 2 },
  ] as const;
  const idsOf = (states: readonly LifecycleState[]) =>
    eventsOf(through(states, { hookVerdicts }), least, states.length - 1)
      .map(readBack)
      .map(({ hooks }) => hooks?.map(({ id }: { id: string }) => id));
  expect(idsOf(['DECLARED', 'FAILED'])).toEqual([['a', 'b']]);
  expect(idsOf(REFUSED)).toEqual([['a', 'b']]);
  expect(idsOf(['DECLARED', 'EXECUTING', 'FAILED'])).toEqual([['b']]);
  expect(idsOf(['DECLARED', 'EXECUTING'])).toEqual([['a']]);
  expect(idsOf(['DECLARED', 'VALIDATED'])).toEqual([undefined]);
});

test('AUD-01.11 the beginning says who approved the call, its mode and its priority', () => {
  const begun = (established: Partial<CallSoFar>, request = {}) =>
    readBack(eventsOf(through(RAN.slice(0, 4), established, request), least, 3)[0] as EventDraft);
  expect(begun({})).toMatchObject({ approved_by: 'auto', async_mode: false, priority: 'normal', state: 'EXECUTING' });
  const execution_options = { async_mode: true, priority: 'high', plan: 'the plan' };
  const request = { execution_options, agent_context: { caller_id: 'sub' } };
  const said = { approved_by: 'ann', async_mode: true, priority: 'high', plan: 'the plan', caller_id: 'sub' };
  expect(begun({ approvedBy: 'ann' }, request)).toMatchObject(said);
  expect(begun({})).toMatchObject({ capabilities: [] });
  expect(begun({ grant: { ...grant, filesystem: [] } })).toMatchObject({ capabilities: ['credential:key'] });
  expect(begun({})).not.toHaveProperty('duration_ms');
});

test('AUD-01.11 AUD-01.10 the end says how the program ended, what the call used, and the hash of the part that is kept', () => {
  const endOf = (established: Partial<CallSoFar>, record: Partial<InvocationRecord> = {}, end?: EndedCall) =>
    readBack(eventsOf(through(RAN, established), { ...least, ...record }, 4, end)[0] as EventDraft);
  const exit = { exit_code: 3, truncated: true };
  const ran = { result: '', usage: NO_USAGE, exit };
  expect(endOf({ ran })).toMatchObject(exit);
  const failed = failure('E3109', 'It failed.', { details: { envelope: exit } });
  expect(endOf({}, {}, { state: 'FAILED', failure: failed })).toMatchObject(exit);
  for (const end of [
    undefined,
    { state: 'FAILED' } as const,
    { state: 'FAILED', failure: failure('E3109', '') } as const,
  ])
    expect(endOf({}, {}, end)).not.toHaveProperty('exit_code');
  const nothing = { attempts: 0, duration_ms: 0, memory_peak_mb: 0, cpu_used_millicore_seconds: 0 };
  const quiet = { network_bytes_received: 0, network_bytes_sent: 0 };
  expect(endOf({})).toMatchObject({ duration_ms: 0, state: 'COMPLETED' });
  expect(endOf({}).execution_metadata).toEqual({ ...nothing, ...quiet });
  const used = {
    ...{ attempts: 1, duration_ms: 2, memory_peak_mb: 3, cpu_used_millicore_seconds: 4, slot_wait_ms: 5 },
    ...{ network_bytes_received: 6, network_bytes_sent: 7 },
    documents_accessed: [{ document_id: 'd', document_version: '1', access_count: 1 }],
  };
  const metadata = { ...USED_NOTHING, ...used };
  expect(endOf({}, { metadata })).toMatchObject({ duration_ms: 2 });
  expect(endOf({}, { metadata }).execution_metadata).toEqual(used);
  const { documents_accessed: _none, ...without } = used;
  expect(endOf({}, { metadata: { ...metadata, documents_accessed: [] } }).execution_metadata).toEqual(without);
  expect(endOf({}, { outputKeptHash: 'k' })).not.toHaveProperty('output_kept_hash');
  expect(endOf({}, { outputHash: 'o', outputKeptHash: 'k' })).toMatchObject({
    output_hash: 'o',
    output_kept_hash: 'k',
  });
});

test('AUD-01 each fact of a call is an event before that of its end, in the order in which it was noted', () => {
  const fact = (at: number) => ({ type: 'ai.agent.tool.attempt_failed', at, data: { attempt: at } }) as const;
  const end = { state: 'COMPLETED', facts: [fact(3)] } as const;
  const attemptsOf = (made: OngoingCall, from: number, ended?: EndedCall, record = least) =>
    eventsOf(made, record, from, ended).map(({ type, data, time }) => [type.split('.').at(-1), data['attempt'], time]);
  const made = through(RAN, { facts: [fact(2)] });
  expect(attemptsOf(made, 3, end)).toEqual([
    ['invoked', undefined, 3],
    ['attempt_failed', 2, 2],
    ['attempt_failed', 3, 3],
    ['succeeded', undefined, 4],
  ]);
  made.toolRun.noteFact(fact(1.4));
  expect(attemptsOf(made, 4).map(([, attempt]) => attempt)).toEqual([1.4, 2, undefined]);
  expect(attemptsOf(made, 4)[0]).toEqual(['attempt_failed', 1.4, 1]);
  expect(attemptsOf(made, 4, end).map(([, attempt]) => attempt)).toEqual([1.4, 2, 3, undefined]);
  expect(attemptsOf(through(RAN.slice(0, 4), { facts: [fact(2)] }), 3)).toHaveLength(1);
  const shared = { agent_did: 'did:web:one', invocation_id: 'call-1', tenant_id: 'acme', tool_id: 'weather' };
  const [plain] = eventsOf(made, least, 4);
  expect(plain?.data).toEqual({ ...shared, attempt: 1.4 });
  expect(plain).toMatchObject({ tenantId: 'acme', subject: 'call-1' });
  const [full] = eventsOf(made, { ...least, toolVersion: '1', inputHash: 'i' }, 4);
  expect(full?.data).toEqual({ ...shared, attempt: 1.4, tool_version: '1', input_hash: 'i' });
});

test('AUD-01.2 AUD-01.3 AUD-01.7 each state has its type of event, and the end of a call that ran out of time its own', () => {
  const typeOf = (state: LifecycleState, failed?: Failure) => {
    const record: InvocationRecord = failed === undefined ? { ...least, state } : { ...least, state, failure: failed };
    return eventsOf(through([state], {}), record, 0)[0]?.type.replace('ai.agent.tool.', '');
  };
  const unknown = (cut_off_by: string) => failure('E3804', 'Find out.', { details: { cut_off_by } });
  expect((['DECLARED', 'VALIDATED', 'AUTHORIZED'] as const).map((state) => typeOf(state))).toEqual(
    Array(3).fill('state_changed'),
  );
  expect((['EXECUTING', 'COMPLETED', 'ROLLED_BACK'] as const).map((state) => typeOf(state))).toEqual([
    'invoked',
    'succeeded',
    'rolled_back',
  ]);
  expect([typeOf('FAILED'), typeOf('DENIED'), typeOf('ABORTED')]).toEqual(Array(3).fill('failed'));
  expect(typeOf('ABORTED', failure('E3805', 'Cancelled.'))).toBe('failed');
  expect(typeOf('ABORTED', failure('E3103', 'Too long.'))).toBe('timeout');
  expect([typeOf('ABORTED', unknown('E3103')), typeOf('ABORTED', unknown('E3310'))]).toEqual(['timeout', 'failed']);
});

test('VIS-03 AUD-01 the side effect of a call is audited with its beginning and its end, and a pure tool has none', () => {
  const effectsOf = (record: Partial<InvocationRecord>, states: readonly LifecycleState[] = RAN) =>
    eventsOf(through(states, {}), { ...least, ...record }, 0)
      .filter(({ type }) => type.includes('side_effect'))
      .map(({ type, data, time }) => [type.split('.').at(-1), time, data['side_effect']]);
  expect(effectsOf({})).toEqual([]);
  expect(effectsOf({ sideEffect: 'pure' })).toEqual([]);
  expect(effectsOf({ sideEffect: 'irreversible' }, REFUSED)).toEqual([]);
  const ran = { sideEffect: 'compensatable', idempotencyKey: 'k', compensates: 'c' } as const;
  const metadata = { attempts: 1, ...USED_NOTHING };
  const compensation = { toolId: 'undo', parameters: { secret: 'never' } };
  const members = { policy: 'compensatable', idempotency_key: 'k', compensates: 'c', compensation_tool: 'undo' };
  expect(effectsOf({ ...ran, metadata, compensation })).toEqual([
    ['started', 3, { ...members, status: 'executing' }],
    ['completed', 4, { ...members, status: 'executed' }],
  ]);
  const failed = { state: 'FAILED', failure: failure('E3109', 'No.') } as const;
  const status = { policy: 'irreversible', e_code: 'E3109', status: 'failed' };
  for (const attempts of [0, 1])
    expect(effectsOf({ sideEffect: 'irreversible', ...failed, metadata: { ...metadata, attempts } })[1]).toEqual([
      'failed',
      4,
      status,
    ]);
});

/** Hashes of a call's last event, of the rows that stored its events, and of the events held in an open row. */
const PINNED = [
  [
    '95bdb5a101507be157b4050607a27b041dabc530901f502a201c068d6b3f70ee',
    'ea0dfa24c4fd134d6e0e86cf7f5263d40e6b188b72fd9be18ba002252f630e01',
    'cacfc43642fde00a780546f846683b96b9d7af3143594f41200474abec513d07',
  ],
  [
    'acaa2c3ed3b859ca908007d8dd64f1f5cd5560f5d0c03578453ee6144a158e96',
    '4b2f7d1e2b1ce7ca7e30876c266616d74046843a252648676a0a4b82220fc91b',
    'e6581c993f1bc0d9217e7c32cc93556c1937f0d0147142754485f999479f2aed',
  ],
] as const;

test('AUD-03 AUD-01.10 the text of events, and so the hashes of a chain, do not change unnoticed', () => {
  const everything: InvocationRecord = {
    ...most,
    phase: 'autonomous',
    trust: 'provisional',
    claimSource: HOSTILE,
    sideEffect: 'irreversible',
    compensates: HOSTILE,
    turnGroupId: 'turn',
    outputKeptHash: 'd'.repeat(64),
  };
  const marked = decided(ongoing());
  establish(marked.call, { argumentFindings: ['sql_injection', 'xss'] });
  const calls = [eventsOf(ongoing(), least, 0), eventsOf(marked, everything, 0, answeredBy(HOSTILE))];
  const found = calls.map((events) => {
    const drafts = events.map((draft, at) => ({ ...draft, id: `event-${at}` }));
    let head: ChainHead = EMPTY_CHAIN;
    const linked = drafts.map((draft) => {
      const event = link(draft, 'chain-1', head);
      head = event;
      return event;
    });
    return [head.hash, sha256(packed(rowsOf(linked)).join('\n')), sha256(JSON.stringify(holdEvents(drafts)))];
  });
  expect(found).toEqual(PINNED);
});
