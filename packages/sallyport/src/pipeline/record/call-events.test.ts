import { failure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import { expect, test } from 'vitest';
import { type ChainHead, EMPTY_CHAIN, link } from '../../audit/chain.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import { holdEvents } from '../../domain/event/held-events.ts';
import type { Grant } from '../../domain/invocation/grant.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { packed, rowsOf } from '../../storage/postgres/ledger/packed-events.ts';
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
  const made = newOngoingCall({ request, caller: { door: 'library', traceparent } }, 0);
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
