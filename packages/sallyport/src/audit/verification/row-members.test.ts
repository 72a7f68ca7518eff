import { expect, test } from 'vitest';
import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { differingMember } from './row-members.ts';

const event = (data: Record<string, unknown>) => ({ data }) as CloudEvent;
const differing = (row: object, ...events: readonly Record<string, unknown>[]) =>
  differingMember(row as InvocationRecord, events.map(event), events.map(event));

const MEMBERS = {
  agent_did: 'agentDid',
  user_did: 'userDid',
  session_id: 'sessionId',
  tool_id: 'toolId',
  tool_version: 'toolVersion',
  called_as: 'calledAs',
  input_hash: 'inputHash',
  door: 'door',
  phase: 'phase',
  claim_source: 'claimSource',
  trust: 'trust',
  turn_group_id: 'turnGroupId',
  answered_by: 'answeredBy',
};

test.each(Object.entries(MEMBERS))('AUD-07.3 %s of a row is what its events say', (name, member) => {
  expect(differing({ [member]: 'a' }, { [name]: 'a' })).toBeUndefined();
  expect(differing({ [member]: 'b' }, { [name]: 'a' })).toBe(name);
  expect(differing({}, { [name]: 'a' })).toBe(name);
  const isAlwaysPresent = ['agent_did', 'tool_id', 'door'].includes(name);
  expect(differing({ [member]: 'a' }, {})).toBe(isAlwaysPresent ? undefined : name);
});

test('AUD-07.3 the newest event that says it counts, or that the newest event says nothing of it', () => {
  expect(differing({ phase: 'new' }, { phase: 'old' }, { phase: 'new' })).toBeUndefined();
  expect(differing({ phase: 'old' }, { phase: 'old' }, { phase: 'new' })).toBe('phase');
  expect(differing({ phase: 'old' }, { phase: 'old' }, {})).toBeUndefined();
  expect(differing({}, { phase: 'old' }, {})).toBeUndefined();
  expect(differing({}, {}, { phase: 'new' })).toBe('phase');
});

test('AUD-07.3 what was redacted may be anything, and something else may not', () => {
  expect(differing({ userDid: 'ann' }, { user_did: 'person [REDACTED:email]' })).toBeUndefined();
  expect(differing({ userDid: 'ann' }, { user_did: 'person REDACTED' })).toBe('user_did');
  expect(differing({ userDid: 'ann' }, { user_did: 7 })).toBe('user_did');
});

test('AUD-07.3 the side effect of a row is that of each of its events, and a run that has one has an event of it', () => {
  const policy = (said: unknown) => ({ side_effect: said });
  const ran = { state: 'EXECUTING' };
  expect(differing({ sideEffect: 'dangerous' }, ran, policy({ policy: 'dangerous' }))).toBeUndefined();
  expect(differing({ sideEffect: 'pure' }, ran, policy({ policy: 'dangerous' }))).toBe('side_effect');
  const two = [policy({ policy: 'dangerous' }), policy({ policy: 'idempotent' })];
  expect(differing({ sideEffect: 'dangerous' }, ...two)).toBe('side_effect');
  for (const nothing of [undefined, null, 'dangerous', {}, { other: 'dangerous' }]) {
    expect(differing({ sideEffect: 'dangerous' }, ran, policy(nothing)), String(nothing)).toBe('side_effect');
    expect(differing({ sideEffect: 'pure' }, ran, policy(nothing))).toBeUndefined();
    expect(differing({ sideEffect: 'dangerous' }, { state: 'DENIED' }, policy(nothing))).toBeUndefined();
    expect(differing({}, ran, policy(nothing))).toBeUndefined();
  }
});
