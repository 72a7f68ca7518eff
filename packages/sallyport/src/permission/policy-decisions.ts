// Hot path: asked for every call; a cached decision costs one key and one lookup.

import type { Clock } from '@sallyport/std/clock';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { LRUCache } from 'lru-cache';
import type { RecordedDecision } from '../../api/schemas/policy.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import type { Principal } from '../domain/principal/principal.ts';
import type { ValuesOf } from '../domain/settings/setting.ts';
import type { DECISION_SETTINGS } from './policies/policy-settings.ts';
import type { PolicyDecision, PolicyEngine, PolicyQuestion } from './policy-engine.port.ts';

/** Most decisions kept in memory. */
const DECISIONS_MAX = 10_000;
/** Longest lifetime that an engine may ask for. */
const TTL_SECONDS_MAX = 3600;

/** The engine, and the limits of the cache. */
export interface PolicyDecisionsOptions extends ValuesOf<typeof DECISION_SETTINGS> {
  readonly engine: PolicyEngine;
  readonly clock: Clock;
  /** Default 10 000. */
  readonly decisionsMax?: number;
}

/** A decision, and the engine that made it. */
export interface MadeDecision extends PolicyDecision {
  readonly engine: string;
  /** Version of the policies that decided. */
  readonly version: string;
}

/** A policy engine's decisions, cached. */
export interface PolicyDecisions {
  /**
   * Decides; synchronously when the decision is cached or the engine answers synchronously. Never throws or rejects.
   * The cache key is engine version, tenant, principal, tool content, phase, trust, findings in the arguments and
   * grant, and the document that is to be read; entries are never shared across tenants. The same question asked while the engine is busy waits for the one
   * answer.
   * @returns E3206 when the engine gives no answer; that is not cached, and the caller denies
   */
  decide(question: PolicyQuestion): MadeDecision | Failure | Promise<MadeDecision | Failure>;
  /**
   * Clears the cache, for when something that policies depend on changed elsewhere. An answer under way counts as old.
   */
  clear(): void;
}

interface Remembered {
  readonly decision: MadeDecision;
  /** Monotonic ms. */
  readonly until: number;
}

type Answer = MadeDecision | Failure;

/** Puts a cache before a policy engine. The engine's `version` is read each time, so a reload takes effect at once. */
export function createPolicyDecisions(options: PolicyDecisionsOptions): PolicyDecisions {
  const { engine, clock, decisionsMax = DECISIONS_MAX, ttlSeconds } = options;
  const remembered = new LRUCache<string, Remembered>({ max: decisionsMax });
  let pending = new Map<string, Promise<Answer>>();
  const remember = (key: string, version: string, decision: PolicyDecision): MadeDecision => {
    const made = { ...decision, engine: engine.name, version };
    const seconds = lifetimeOf(decision.cacheTtlSeconds ?? ttlSeconds);
    if (seconds > 0) remembered.set(key, { decision: made, until: clock.monotonic() + seconds * 1000 });
    return made;
  };
  const waitFor = (key: string, version: string, answer: Promise<PolicyDecision>): Promise<Answer> => {
    const asked = pending;
    const made = answer.then(
      (decision) => {
        // An answer asked for before `clear`, or under policies that changed meanwhile, serves this call and no later
        // one.
        const current = asked === pending && engine.version() === version;
        return current ? remember(key, version, decision) : { ...decision, engine: engine.name, version };
      },
      (cause: unknown) => unanswered(engine, cause),
    );
    const settled = made.finally(() => asked.delete(key));
    asked.set(key, settled);
    return settled;
  };
  return {
    decide(question) {
      const version = engine.version();
      const key = keyOf(version, question);
      const known = remembered.get(key);
      if (known !== undefined && clock.monotonic() < known.until) return known.decision;
      const underway = pending.get(key);
      if (underway !== undefined) return underway;
      try {
        const answer = engine.decide(question);
        // A synchronous answer needs no sharing.
        return answer instanceof Promise ? waitFor(key, version, answer) : remember(key, version, answer);
      } catch (cause) {
        return unanswered(engine, cause);
      }
    },
    clear() {
      remembered.clear();
      pending = new Map();
    },
  };
}

/** A decision in the form of records and events, in canonical order. */
export function recordedDecision(made: MadeDecision): RecordedDecision {
  const { engine, version, allowed, ask, policies, shadow } = made;
  return {
    allowed,
    ...(ask === undefined ? {} : { ask }),
    engine,
    policies: [...policies],
    ...(shadow === undefined ? {} : { shadow: { ...shadow, policies: [...shadow.policies] } }),
    version,
  };
}

function lifetimeOf(seconds: number): number {
  return Number.isFinite(seconds) ? Math.min(seconds, TTL_SECONDS_MAX) : 0;
}

/** An engine's own explanation of a fault is passed on; any other detail stays with the operator. */
function unanswered({ name }: PolicyEngine, cause: unknown): Failure {
  const explained = failureOf(cause);
  if (explained.code === 'E3206') return explained;
  return failure('E3206', `The policy engine ${name} gave no answer, so the call is denied. Try again later.`, {
    cause,
  });
}

/** Maps each text to a number, so that keys are short: the time of a lookup is the length of its key. */
const numbers = new LRUCache<string, number>({ max: 2 * DECISIONS_MAX });
let numbersGiven = 0;

/** The same number for the same text; an evicted text gets a new number, and no number is reused. */
function numberOf(text: string): number {
  const known = numbers.get(text);
  if (known !== undefined) return known;
  numbersGiven += 1;
  numbers.set(text, numbersGiven);
  return numbersGiven;
}

const principalNumbers = new WeakMap<Principal, number>();
const grantNumbers = new WeakMap<Grant, number>();

/** Numbers, words of closed sets and names; the name that a caller chooses freely comes last. */
function keyOf(version: string, question: PolicyQuestion): string {
  const { principal, grant, toolId, toolVersion, contentHash, source, phase = '', trust } = question;
  const { argumentFindings } = question;
  const who = principalNumbers.get(principal) ?? numberOfPrincipal(principal);
  const what = grantNumbers.get(grant) ?? numberOfGrant(grant);
  const { document } = question;
  const read = document === undefined ? '' : `\n${document.mode} ${JSON.stringify(document.id)}`;
  return `${version}\n${who}\n${what}\n${phase}\n${trust}\n${argumentFindings}\n${contentHash}\n${toolVersion}\n${source}\n${toolId}${read}`;
}

function numberOfPrincipal(principal: Principal): number {
  const { tenantId, agentDid, userDid = null, sessionId = null, roles, trust = null } = principal;
  const number = numberOf(JSON.stringify([tenantId, agentDid, userDid, sessionId, roles, trust]));
  principalNumbers.set(principal, number);
  return number;
}

function numberOfGrant(grant: Grant): number {
  const { filesystem, network, credentials, limits } = grant;
  const text = JSON.stringify([
    filesystem.map(({ path, mode }) => [path, mode]),
    network.map(({ host, port }) => [host, port]),
    credentials,
    [limits.timeoutMs, limits.cpuMillicores, limits.memoryMb, limits.outputBytesMax],
  ]);
  const number = numberOf(text);
  grantNumbers.set(grant, number);
  return number;
}
