import { failure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { expect, test } from 'vitest';
import type { Grant } from '../../domain/invocation/grant.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { type Flight, newFlight } from '../flight/flight.ts';
import { eventsOf } from './call-events.ts';

const HOSTILE = `nul \0 quote " \\ lone \ud800 🙂 \u2028`;

const grant: Grant = {
  filesystem: [{ path: `/tmp/${HOSTILE}`, mode: 'ro' }],
  network: [],
  credentials: ['key'],
  limits: { timeoutMs: 1, cpuMillicores: 1, memoryMb: 1, outputBytesMax: 1 },
};

function flight(): Flight {
  const request = { tool_id: 'weather', parameters: {} };
  const made = newFlight({ request, caller: { door: 'library' } }, 0);
  Object.assign(made.call, { grant });
  made.trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
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

test('AUD-01 the text of an event is the canonical JSON of what it says, and its parts make up the whole', () => {
  for (const record of [least, most]) {
    for (const answeredBy of [undefined, HOSTILE]) {
      for (const { written } of eventsOf(flight(), record, 0, answeredBy)) {
        const said = JSON.parse(written.text);
        expect(canonicalJson(said)).toBe(written.text);
        expect({ ...JSON.parse(`{${written.shared}}`), ...JSON.parse(`{${written.own}}`) }).toEqual(said);
        expect([said.invocation_id, said.tool_id, said.agent_did]).toEqual([
          written.invocationId,
          written.toolId,
          written.agentDid,
        ]);
      }
    }
  }
});

test('AUD-01 PIPE-01 each transition says state, hash of the input and capabilities; the end also hash, usage and error', () => {
  const said = eventsOf(flight(), most, 0).map(({ written }) => JSON.parse(written.text));
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

const decided = (made: Flight): Flight => {
  made.policyDecision = {
    engine: HOSTILE,
    version: HOSTILE,
    allowed: true,
    policies: [HOSTILE],
    shadow: { allowed: false, policies: [HOSTILE], error: HOSTILE },
  };
  made.gateDecision = { allowed: true, answer: 'ALLOW', model: HOSTILE, version: 'v', ms: 1 };
  made.hookVerdicts = [
    { id: 'a', at: 'before', outcome: 'rewrite', ms: 1, input_hash_before: 'c'.repeat(64) },
    { id: 'b', at: 'after', outcome: 'failed', ms: 2, went_on: true },
  ];
  return made;
};

test('PRM-08 PRM-09 PIPE-14 what was decided stands in the events as canonical JSON, each where it belongs', () => {
  const stated = { ...most, phase: 'autonomous', trust: 'provisional', claimSource: HOSTILE } as const;
  const said = eventsOf(decided(flight()), stated, 0).map(({ written }) => {
    const all = JSON.parse(written.text);
    expect(canonicalJson(all)).toBe(written.text);
    expect({ ...JSON.parse(`{${written.shared}}`), ...JSON.parse(`{${written.own}}`) }).toEqual(all);
    return all;
  });
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
  const made = decided(flight());
  made.transitions.splice(3, 2, { state: 'DENIED', at: 3 });
  const end = eventsOf(made, { ...most, state: 'DENIED' }, 0).at(-1)?.written.text ?? '';
  const said = JSON.parse(end);
  expect(canonicalJson(said)).toBe(end);
  expect(said).toMatchObject({
    policy_decision: {},
    adversarial_policy_decision: {},
    hooks: [{ id: 'a' }, { id: 'b' }],
  });
});
