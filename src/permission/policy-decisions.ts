// Hot path: asked for every call; a decision made before costs one key and one look-up.
import { LRUCache } from 'lru-cache';
import { type Failure, failure } from '../domain/error/failure.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import type { Principal } from '../domain/principal/principal.ts';
import { type Clock, systemClock } from '../std/clock.ts';
import type { PolicyDecision, PolicyEngine, PolicyQuestion } from './policy-engine.port.ts';

/** Decisions kept in memory. */
const DECISIONS_MAX = 10_000;
/** How long a decision is kept when the engine does not say (PRM-05). */
const TTL_SECONDS = 300;
/** Longest time that an engine may ask for. */
const TTL_SECONDS_MAX = 3600;

/** The engine that is asked, and how much of it is remembered. */
export interface PolicyDecisionsOptions {
  readonly engine: PolicyEngine;
  readonly clock?: Clock;
  /** Default 10 000. */
  readonly decisionsMax?: number;
}

/** A policy engine's decisions, remembered. */
export interface PolicyDecisions {
  /**
   * Decides: at once when the same was asked before, or when the engine answers at once. Never throws or rejects.
   * Remembered by engine version, tenant, principal, tool content and grant; never across tenants.
   * @returns E3206 when the engine gives no answer; that is not remembered, and the caller denies
   */
  decide(question: PolicyQuestion): PolicyDecision | Failure | Promise<PolicyDecision | Failure>;
  /** Forgets all, for when something that policies judge by changed elsewhere. */
  clear(): void;
}

interface Remembered {
  readonly decision: PolicyDecision;
  /** Monotonic ms. */
  readonly until: number;
}

/** Puts a cache before a policy engine. The engine's `version` is asked each time, so a reload takes effect at once. */
export function createPolicyDecisions(options: PolicyDecisionsOptions): PolicyDecisions {
  const { engine, clock = systemClock, decisionsMax = DECISIONS_MAX } = options;
  const remembered = new LRUCache<string, Remembered>({ max: decisionsMax });
  const remember = (key: string, decision: PolicyDecision): PolicyDecision => {
    const seconds = lifetimeOf(decision);
    if (seconds > 0) remembered.set(key, { decision, until: clock.monotonic() + seconds * 1000 });
    return decision;
  };
  return {
    decide(question) {
      const key = keyOf(engine.version(), question);
      const known = remembered.get(key);
      if (known !== undefined && clock.monotonic() < known.until) return known.decision;
      try {
        const answer = engine.decide(question);
        if (!(answer instanceof Promise)) return remember(key, answer);
        return answer.then((decision) => remember(key, decision), unanswered);
      } catch (cause) {
        return unanswered(cause);
      }
    },
    clear: () => remembered.clear(),
  };
}

function lifetimeOf({ cacheTtlSeconds = TTL_SECONDS }: PolicyDecision): number {
  return Number.isFinite(cacheTtlSeconds) ? Math.min(cacheTtlSeconds, TTL_SECONDS_MAX) : 0;
}

function unanswered(cause: unknown): Failure {
  return failure('E3206', 'The policy engine gave no answer, so the call is denied. Try again later.', { cause });
}

const principalKeys = new WeakMap<Principal, string>();
const grantKeys = new WeakMap<Grant, string>();

/** Each part is JSON, so no value can pass for two. */
function keyOf(version: string, question: PolicyQuestion): string {
  const { principal, grant, toolId, toolVersion, contentHash, source } = question;
  let who = principalKeys.get(principal);
  if (who === undefined) {
    const { tenantId, agentDid, userDid = null, sessionId = null, roles } = principal;
    who = JSON.stringify([tenantId, agentDid, userDid, sessionId, roles]);
    principalKeys.set(principal, who);
  }
  let what = grantKeys.get(grant);
  if (what === undefined) {
    const { filesystem, network, credentials, limits } = grant;
    what = JSON.stringify([
      filesystem.map(({ path, mode }) => [path, mode]),
      network.map(({ host, port }) => [host, port]),
      credentials,
      [limits.timeoutMs, limits.cpuMillicores, limits.memoryMb, limits.outputBytesMax],
    ]);
    grantKeys.set(grant, what);
  }
  return `${version}\n${who}\n${toolId}\n${toolVersion}\n${contentHash}\n${source}\n${what}`;
}
