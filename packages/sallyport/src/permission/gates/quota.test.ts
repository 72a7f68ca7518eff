import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import { memoryQuotaStore } from '../../../test/stores/calls/memory-quota-store.ts';
import type { Principal } from '../../domain/principal/principal.ts';
import type { Quota } from '../quota.ts';
import { quotaWith } from './gates.fixture.ts';

const agent: Principal = { tenantId: 'acme', agentDid: 'did:agent:a', sessionId: 's', roles: ['agent'] };
const claims = (more: Partial<CapabilityClaims> = {}) => more as CapabilityClaims;

/** How many of ten calls pass. */
async function passed(quota: Quota, who: Principal, own: CapabilityClaims): Promise<number> {
  const ends = [];
  for (let at = 0; at < 10; at += 1) ends.push(await quota.take(who, own));
  for (const end of ends) expect(end === undefined || end.code === 'E3211').toBe(true);
  return ends.filter((end) => end === undefined).length;
}

describe('the quota of a session', () => {
  test('PRM-07.1 is what the setting says, and a token can only lower it', async () => {
    const cases: [number, number | undefined, number][] = [
      [0, undefined, 10],
      [3, undefined, 3],
      [3, 2, 2],
      [3, 9, 3],
      [0, 4, 4],
      [3, 0, 0],
      [3, -1, 0],
      [3, Number.NaN, 0],
      [3, 1.5, 0],
      [0, -1, 0],
    ];
    for (const [callsPerSession, claimed, expected] of cases) {
      const quota = quotaWith({ store: memoryQuotaStore(), callsPerSession });
      const own = claimed === undefined ? claims() : claims({ max_tool_calls_per_session: claimed });
      expect(await passed(quota, agent, own), `${callsPerSession}, ${claimed}`).toBe(expected);
    }
  });

  test('PRM-07 costs nothing when none is set', () => {
    const store = { take: () => Promise.reject(new Error('nobody asks')) };
    expect(quotaWith({ store }).take(agent, claims())).toBeUndefined();
    expect(quotaWith({ store }).knownSpent(agent, claims())).toBeUndefined();
  });

  test('PRM-07 of a token without a session is that of the token', async () => {
    const quota = quotaWith({ store: memoryQuotaStore(), callsPerSession: 2 });
    const { sessionId: _none, ...nameless } = agent;
    expect(await passed(quota, nameless, claims({ jti: 'one' }))).toBe(2);
    expect(await passed(quota, nameless, claims({ jti: 'two' }))).toBe(2);
    expect(await passed(quota, nameless, claims())).toBe(2);
    expect(await passed(quota, nameless, claims())).toBe(0);
  });

  test('PRM-07.4 is not known to be spent before it is, and says how many calls there were', async () => {
    const quota = quotaWith({ store: memoryQuotaStore(), callsPerSession: 2 });
    await quota.take(agent, claims());
    expect(quota.knownSpent(agent, claims())).toBeUndefined();
    await quota.take(agent, claims());
    const spent = {
      code: 'E3211',
      message: expect.stringContaining('The session has made the 2 calls that it may make.'),
      details: { max_tool_calls_per_session: 2 },
    };
    expect(quota.knownSpent(agent, claims())).toMatchObject(spent);
    expect(await quota.take(agent, claims())).toMatchObject(spent);
    expect(quota.knownSpent(agent, claims({ max_tool_calls_per_session: 1 }))).toBeUndefined();
  });

  test('PRM-07 of a session is not that of a token with its name, nor of all', async () => {
    const quota = quotaWith({ store: memoryQuotaStore(), callsPerSession: 1 });
    const { sessionId: _none, ...nameless } = agent;
    const named = (sessionId: string) => ({ ...nameless, sessionId });
    for (const [who, own] of [
      [named('x'), claims({ jti: 'x' })],
      [nameless, claims({ jti: 'x' })],
      [named('agent'), claims()],
      [nameless, claims()],
    ] as const)
      expect(await passed(quota, who, own)).toBe(1);
    expect(await passed(quota, named('x'), claims({ jti: 'other' }))).toBe(0);
    expect(await passed(quota, nameless, claims({ jti: 'undefined' }))).toBe(1);
    expect(await passed(quota, nameless, claims({ jti: 'agent' }))).toBe(1);
  });

  test('PRM-07 asks the store for the session, its calls and the time after which it begins anew', async () => {
    const asked: unknown[] = [];
    const store = { take: async (...all: unknown[]) => void asked.push(all) };
    await quotaWith({ store, callsPerSession: 3, idleSeconds: 60 }).take(agent, claims());
    for (const max_tool_calls_per_session of [0, -1, -5])
      expect(await quotaWith({ store }).take(agent, claims({ max_tool_calls_per_session }))).toMatchObject({
        details: { max_tool_calls_per_session: 0 },
      });
    expect(asked).toEqual([[{ owner: agent, sessionId: 'session:s' }, 3, 60]]);
  });

  test('is known to be spent once it is, without asking the store, and for some seconds only', async () => {
    let now = 0;
    const clock = { now: () => now, monotonic: () => now };
    const quota = quotaWith({ store: memoryQuotaStore(), callsPerSession: 1, clock });
    expect(quota.knownSpent(agent, claims())).toBeUndefined();
    expect(await quota.take(agent, claims())).toBeUndefined();
    expect(isFailure(quota.knownSpent(agent, claims()))).toBe(true);
    for (const other of [{ sessionId: 'other' }, { agentDid: 'did:agent:b' }, { tenantId: 'other' }])
      expect(quota.knownSpent({ ...agent, ...other }, claims())).toBeUndefined();
    now += 5_000;
    expect(quota.knownSpent(agent, claims())).toBeUndefined();
  });
});
