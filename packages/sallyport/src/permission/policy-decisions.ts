// Hot path: asked for every call; a decision made before costs one key and one look-up.

import { type Clock, systemClock } from '@sallyport/std/clock';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { LRUCache } from 'lru-cache';
import type { RecordedDecision } from '../../api/schemas/policy.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import type { Principal } from '../domain/principal/principal.ts';
import type { ValuesOf } from '../domain/settings/setting.ts';
import { DECISION_SETTINGS } from './policies/policy-settings.ts';
import type { PolicyDecision, PolicyEngine, PolicyQuestion } from './policy-engine.port.ts';

/** Decisions kept in memory. */
const DECISIONS_MAX = 10_000;
/** Longest time that an engine may ask for. */
const TTL_SECONDS_MAX = 3600;

/** The engine that is asked, and how much of it is remembered. */
export interface PolicyDecisionsOptions extends Partial<ValuesOf<typeof DECISION_SETTINGS>> {
  readonly engine: PolicyEngine;
  readonly clock?: Clock;
  /** Default 10 000. */
  readonly decisionsMax?: number;
}

/** A decision with who made it. */
export interface MadeDecision extends PolicyDecision {
  readonly engine: string;
  /** Version of the policies that decided. */
  readonly version: string;
}

/** A policy engine's decisions, remembered. */
export interface PolicyDecisions {
  /**
   * Decides: at once when the same was asked before, or when the engine answers at once. Never throws or rejects.
   * Remembered by engine version, tenant, principal, tool content, phase, trust, findings in the arguments and grant; never across tenants. The same
   * question asked again while the engine thinks waits for the one answer.
   * @returns E3206 when the engine gives no answer; that is not remembered, and the caller denies
   */
  decide(question: PolicyQuestion): MadeDecision | Failure | Promise<MadeDecision | Failure>;
  /** Forgets all, for when something that policies judge by changed elsewhere. An answer that is on its way counts as old. */
  clear(): void;
}

interface Remembered {
  readonly decision: MadeDecision;
  /** Monotonic ms. */
  readonly until: number;
}

type Answer = MadeDecision | Failure;

/** Puts a cache before a policy engine. The engine's `version` is asked each time, so a reload takes effect at once. */
export function createPolicyDecisions(options: PolicyDecisionsOptions): PolicyDecisions {
  const {
    engine,
    clock = systemClock,
    decisionsMax = DECISIONS_MAX,
    ttlSeconds = DECISION_SETTINGS.ttlSeconds.default,
  } = options;
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
        // What was asked before `clear`, or of policies that changed meanwhile, answers this call and no later one.
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
        // What is answered at once is shared with nobody who asks meanwhile.
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

/** A decision as records and events keep it, in canonical order. */
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

/** A fault that an engine explains is told in its own words; anything else stays with the operator. */
function unanswered({ name }: PolicyEngine, cause: unknown): Failure {
  const explained = cause instanceof ToolLayerError ? failureOf(cause) : undefined;
  if (explained?.code === 'E3206') return explained;
  return failure('E3206', `The policy engine ${name} gave no answer, so the call is denied. Try again later.`, {
    cause,
  });
}

/** A number for each text, so that keys are short: the time of a look-up is the length of its key. */
const numbers = new LRUCache<string, number>({ max: 2 * DECISIONS_MAX });
let numbersGiven = 0;

/** The same for the same text; a text that was forgotten gets a new one, and no number is given twice. */
function numberOf(text: string): number {
  const known = numbers.get(text);
  if (known !== undefined) return known;
  numbersGiven += 1;
  numbers.set(text, numbersGiven);
  return numbersGiven;
}

const principalNumbers = new WeakMap<Principal, number>();
const grantNumbers = new WeakMap<Grant, number>();

/** Numbers, words of a closed set and names; the name that a caller may choose freely stands last. */
function keyOf(version: string, question: PolicyQuestion): string {
  const { principal, grant, toolId, toolVersion, contentHash, source, phase = '', trust } = question;
  const { argumentFindings } = question;
  const who = principalNumbers.get(principal) ?? numberOfPrincipal(principal);
  const what = grantNumbers.get(grant) ?? numberOfGrant(grant);
  return `${version}\n${who}\n${what}\n${phase}\n${trust}\n${argumentFindings}\n${contentHash}\n${toolVersion}\n${source}\n${toolId}`;
}

function numberOfPrincipal(principal: Principal): number {
  const { tenantId, agentDid, userDid = null, sessionId = null, roles, trust = null } = principal;
  const number = numberOf(JSON.stringify(['principal', tenantId, agentDid, userDid, sessionId, roles, trust]));
  principalNumbers.set(principal, number);
  return number;
}

function numberOfGrant(grant: Grant): number {
  const { filesystem, network, credentials, limits } = grant;
  const text = JSON.stringify([
    'grant',
    filesystem.map(({ path, mode }) => [path, mode]),
    network.map(({ host, port }) => [host, port]),
    credentials,
    [limits.timeoutMs, limits.cpuMillicores, limits.memoryMb, limits.outputBytesMax],
  ]);
  const number = numberOf(text);
  grantNumbers.set(grant, number);
  return number;
}
