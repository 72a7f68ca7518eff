// Asked for every call; costs two comparisons where no quota is set.

import type { Clock } from '@sallyport/std/clock';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { LRUCache } from 'lru-cache';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import { ownerKey } from '../domain/invocation/call-owner.ts';
import type { Principal } from '../domain/principal/principal.ts';
import type { ValuesOf } from '../domain/settings/setting.ts';
import type { QUOTA_SETTINGS } from './gates/gate-settings.ts';
import type { QuotaSession, QuotaStore } from './quota-store.port.ts';

/** Dependencies of the quota. */
export interface QuotaOptions extends ValuesOf<typeof QUOTA_SETTINGS> {
  readonly store: QuotaStore;
  readonly clock: Clock;
}

/** Limits how many calls a session may make (PRM-07). */
export interface Quota {
  /**
   * Takes one call from the session's quota. Calls that were refused before, or answered by an earlier call, are not
   * counted. Without a quota the store is not asked and nothing is allocated.
   * @returns undefined when the call may proceed, E3211 when the quota is spent
   */
  take(principal: Principal, claims: CapabilityClaims): Failure | undefined | Promise<Failure | undefined>;
  /** E3211 when the session is known to have spent its quota; asks no store, and expires after some seconds. */
  knownSpent(principal: Principal, claims: CapabilityClaims): Failure | undefined;
}

/** Sessions known to have nothing left, which the store need not be asked about. */
const SPENT_MAX = 10_000;
/** Lifetime of that knowledge: the limit may be raised or the session be over meanwhile. */
const SPENT_MS = 5_000;

/** Counts in the store, so that restarts and other instances continue the count. */
export function createQuota({ store, callsPerSession, idleSeconds, clock }: QuotaOptions): Quota {
  const spent = new LRUCache<string, number>({ max: SPENT_MAX });
  const refuse = (callsMax: number): Failure =>
    failure(
      'E3211',
      `The session has made the ${callsMax} calls that it may make. Repeating the call does not help: end the task, or ask for a new session.`,
      { details: { max_tool_calls_per_session: callsMax } },
    );
  const count = async (session: QuotaSession, callsMax: number): Promise<Failure | undefined> => {
    const counted = callsMax < 1 ? undefined : await store.take(session, callsMax, idleSeconds);
    if (counted !== undefined && counted < callsMax) return undefined;
    spent.set(spentKey(session, callsMax), clock.monotonic() + SPENT_MS);
    return counted === undefined ? refuse(callsMax) : undefined;
  };
  return {
    take(principal, claims) {
      const callsMax = boundOf(claims, callsPerSession);
      return callsMax === undefined ? undefined : count(sessionOf(principal, claims), callsMax);
    },
    knownSpent(principal, claims) {
      const callsMax = boundOf(claims, callsPerSession);
      if (callsMax === undefined) return undefined;
      const until = spent.get(spentKey(sessionOf(principal, claims), callsMax));
      return until !== undefined && clock.monotonic() < until ? refuse(callsMax) : undefined;
    },
  };
}

/** Undefined for no limit. An invalid claim allows nothing. */
function boundOf({ max_tool_calls_per_session: claimed }: CapabilityClaims, set: number): number | undefined {
  if (claimed === undefined) return set === 0 ? undefined : set;
  const own = Number.isSafeInteger(claimed) && claimed >= 0 ? claimed : 0;
  return set === 0 ? own : Math.min(own, set);
}

/**
 * The session that the token names; a token without one is a session of its own, and all calls of an owner without
 * either share one. The request's own session does not count: the caller could choose a new one for each call.
 */
function sessionOf(owner: Principal, { jti }: CapabilityClaims): QuotaSession {
  const named = owner.sessionId === undefined ? undefined : `session:${owner.sessionId}`;
  return { owner, sessionId: named ?? (jti === undefined ? 'agent' : `token:${jti}`) };
}

const spentKey = ({ owner, sessionId }: QuotaSession, callsMax: number): string =>
  JSON.stringify([ownerKey(owner), sessionId, callsMax]);
