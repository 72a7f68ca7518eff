import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { PolicyDecision, PolicyEngine, PolicyQuestion, ShadowDecision } from '../policy-engine.port.ts';

/** Engines in the order in which they are asked. */
export interface CombinedEngines {
  /** All of them must allow; the first denial ends it. At least one. */
  readonly enforced: readonly PolicyEngine[];
  /** Asked in addition and recorded; never enforced (PIPE-15). */
  readonly shadow?: readonly PolicyEngine[];
}

/** Lifetime of a decision whose shadow gave no answer, in seconds. */
const SHADOW_FAULT_TTL_SECONDS = 10;

/**
 * Several engines as one: a call is allowed when every engine allows it, and needs a confirmation when one asks for it
 * and none denies. The decision is cached for the shortest lifetime that an engine names.
 */
export function combineEngines({ enforced, shadow = [] }: CombinedEngines): PolicyEngine {
  const [only] = enforced;
  if (only !== undefined && enforced.length === 1 && shadow.length === 0) return only;
  const all = [...enforced, ...shadow];
  return {
    name: enforced.map(({ name }) => name).join('+'),
    version: () => all.map((engine) => engine.version()).join('+'),
    async decide(question) {
      // Answers of engines in shadow mode never reject.
      const beside = Promise.all(shadow.map((engine) => answerInShadow(engine, question)));
      return withShadow(await askInTurn(enforced, question), await beside);
    },
  };
}

/** The answer of an engine in shadow mode; a fault is recorded as an answer too. */
async function answerInShadow(engine: PolicyEngine, question: PolicyQuestion): Promise<ShadowDecision> {
  try {
    const { allowed, policies } = await engine.decide(question);
    return { allowed, policies };
  } catch (thrown) {
    return { allowed: false, policies: [], error: failureOf(thrown).message };
  }
}

/** Asks one engine after the other: an early denial spares the rest. */
async function askInTurn(engines: readonly PolicyEngine[], question: PolicyQuestion): Promise<PolicyDecision> {
  const answers: PolicyDecision[] = [];
  for (const engine of engines) {
    const given = engine.decide(question);
    // Engines that answer at once are asked in one go, so that they are all asked before a change of the policies or after it.
    const answer = given instanceof Promise ? await given : given;
    answers.push(answer);
    if (!answer.allowed && answer.ask !== true) return refusedBy(answer, answers);
  }
  return together(answers);
}

/** Only the denying engine is named, with its reasons; the shadow answers of all are kept. */
function refusedBy({ policies, reasons }: PolicyDecision, answers: readonly PolicyDecision[]): PolicyDecision {
  const { reasons: _ofAll, ...decision } = together(answers);
  return { ...decision, policies, ...(reasons === undefined ? {} : { reasons }) };
}

function together(answers: readonly PolicyDecision[]): PolicyDecision {
  const reasons = answers.flatMap((answer) => answer.reasons ?? []);
  const times = answers.flatMap(({ cacheTtlSeconds }) => cacheTtlSeconds ?? []);
  const allowed = answers.length > 0 && answers.every((answer) => answer.allowed);
  const asks = !allowed && answers.length > 0 && answers.every((answer) => answer.allowed || answer.ask === true);
  const decisive = asks ? answers.filter((answer) => answer.ask === true) : answers;
  const shadow = togetherInShadow(answers.flatMap((answer) => answer.shadow ?? []));
  return {
    allowed,
    ...(asks ? { ask: true } : {}),
    policies: decisive.flatMap(({ policies }) => policies),
    ...(reasons.length === 0 ? {} : { reasons }),
    ...(times.length === 0 ? {} : { cacheTtlSeconds: Math.min(...times) }),
    ...(shadow === undefined ? {} : { shadow }),
  };
}

function withShadow(decision: PolicyDecision, others: readonly ShadowDecision[]): PolicyDecision {
  const differing = others.filter(({ allowed, error }) => allowed !== decision.allowed || error !== undefined);
  const shadow = togetherInShadow([...(decision.shadow === undefined ? [] : [decision.shadow]), ...differing]);
  if (shadow === undefined) return decision;
  const faulty = others.some(({ error }) => error !== undefined);
  const { cacheTtlSeconds = Number.POSITIVE_INFINITY, ...rest } = decision;
  const shortened = faulty ? Math.min(cacheTtlSeconds, SHADOW_FAULT_TTL_SECONDS) : cacheTtlSeconds;
  return { ...rest, shadow, ...(Number.isFinite(shortened) ? { cacheTtlSeconds: shortened } : {}) };
}

function togetherInShadow(shadows: readonly ShadowDecision[]): ShadowDecision | undefined {
  const [first] = shadows;
  if (first === undefined || shadows.length === 1) return first;
  const errors = shadows.flatMap(({ error }) => error ?? []);
  return {
    allowed: shadows.every(({ allowed }) => allowed),
    policies: shadows.flatMap(({ policies }) => policies),
    ...(errors.length === 0 ? {} : { error: errors.join(' ') }),
  };
}
