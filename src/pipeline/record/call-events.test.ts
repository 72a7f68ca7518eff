import { expect, test } from 'vitest';
import { failure } from '../../domain/error/failure.ts';
import type { Grant } from '../../domain/invocation/grant.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { canonicalJson } from '../../std/canonical-json.ts';
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
