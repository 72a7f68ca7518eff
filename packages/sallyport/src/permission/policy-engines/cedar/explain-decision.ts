import type {
  Clause,
  EntityUidJson,
  Expr,
  PolicyJson,
  PrincipalConstraint,
  ResourceConstraint,
} from '@cedar-policy/cedar-wasm/web';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { ExplainedPolicy, PolicyExplanation } from '../../../../api/schemas/policy.ts';
import type { PolicyQuestion } from '../../policy-engine.port.ts';
import { ALL_ATTRIBUTES, conjuncts } from './attributes-used.ts';
import { type Cedar, readPolicy } from './cedar-module.ts';
import { cedarRequest } from './cedar-request.ts';
import type { CedarDecision } from './loaded-policies.ts';
import type { ParsedPolicy } from './policy-set.ts';

/** Most permits examined for a call that none permits. */
const PERMITS_MAX = 100;
/** Most of them reported: those with the fewest unmet conditions. */
const NEAREST_MAX = 5;

/**
 * Explains Cedar's decision: evaluates each condition of the relevant policies by itself.
 * @param policies those in force
 */
export function explainDecision(
  cedar: Cedar,
  policies: readonly ParsedPolicy[],
  question: PolicyQuestion,
  decide: () => CedarDecision,
): PolicyExplanation {
  const explain = (some: readonly ParsedPolicy[]): readonly ExplainedPolicy[] => beside(cedar, some, question);
  try {
    const { allowed, policies: names } = decide();
    const decided = explain(policies.filter(({ name }) => names.includes(name)));
    const none = !allowed && decided.length === 0;
    const permits = policies.filter(({ effect }) => effect === 'allow').slice(0, PERMITS_MAX);
    const nearest = none
      ? explain(permits)
          .toSorted((a, b) => a.unmet.length - b.unmet.length)
          .slice(0, NEAREST_MAX)
      : [];
    const changes = allowed ? decided.map(withoutIt) : none ? toPermit(nearest) : decided.map(toPass);
    return { engine: 'cedar', mode: 'enforce', allowed, decided: [...decided], nearest, changes };
  } catch (thrown) {
    const { message, cause } = failureOf(thrown);
    const error = cause instanceof Error ? `${message} ${cause.message}` : message;
    const changes = ['Mend the policy that fails: a policy that cannot be judged denies.'];
    return { engine: 'cedar', mode: 'enforce', allowed: false, error, decided: [], nearest: [], changes };
  }
}

const withoutIt = ({ name }: ExplainedPolicy): string =>
  `Without ${name} the call needs another policy that permits it.`;

function toPass({ name, held }: ExplainedPolicy): string {
  return held.length === 0
    ? `${name} forbids every call. Remove it or give it a condition.`
    : `${name} must no longer match: change one of ${held.join('; ')}.`;
}

function toPermit(nearest: readonly ExplainedPolicy[]): string[] {
  if (nearest.length === 0) return ['No policy permits anything. Add one that permits this call.'];
  return nearest.map(({ name, unmet }) => `${name} would permit it if this held: ${unmet.join('; ')}.`);
}

/** One condition of a policy, as a policy of its own. */
interface Condition {
  readonly policy: string;
  readonly clause: Clause;
}

function beside(cedar: Cedar, policies: readonly ParsedPolicy[], question: PolicyQuestion): readonly ExplainedPolicy[] {
  const conditions = policies.flatMap(({ name, text }) =>
    conditionsOf(readPolicy(cedar, text)).map((clause) => ({ policy: name, clause })),
  );
  const held = heldAmong(cedar, conditions, question);
  return policies.map(({ name, effect, file, line, text }) => {
    const texts = (wanted: boolean): string[] =>
      conditions.flatMap(({ policy, clause }, place) =>
        policy === name && held.has(place) === wanted ? [textOf(cedar, clause)] : [],
      );
    return {
      name,
      effect,
      mode: 'enforce',
      file,
      line,
      text,
      held: texts(true),
      unmet: texts(false),
    };
  });
}

/** Each condition becomes a permit; those that decide hold. A condition that fails in evaluation does not hold. */
function heldAmong(cedar: Cedar, conditions: readonly Condition[], question: PolicyQuestion): ReadonlySet<number> {
  const staticPolicies = Object.fromEntries(conditions.map(({ clause }, place) => [place, permitWhen(clause)]));
  const answer = cedar.isAuthorized({
    ...cedarRequest(question, ALL_ATTRIBUTES),
    policies: { staticPolicies },
    validateRequest: false,
  });
  return new Set(answer.type === 'success' ? answer.response.diagnostics.reason.map(Number) : []);
}

const permitWhen = (clause: Clause): PolicyJson => ({
  effect: 'permit',
  principal: { op: 'All' },
  action: { op: 'All' },
  resource: { op: 'All' },
  conditions: [clause],
});

function conditionsOf({ principal, resource, conditions }: PolicyJson): readonly Clause[] {
  return [
    ...headOf('principal', principal),
    ...headOf('resource', resource),
    ...conditions.flatMap(({ kind, body }) =>
      kind === 'when' ? conjuncts(body).map((each): Clause => ({ kind, body: each })) : [{ kind, body }],
    ),
  ];
}

function headOf(variable: 'principal' | 'resource', constraint: PrincipalConstraint | ResourceConstraint): Clause[] {
  const left: Expr = { Var: variable };
  const when = (body: Expr): Clause[] => [{ kind: 'when', body }];
  const value = (entity: EntityUidJson): Expr => ({
    Value: { __entity: '__entity' in entity ? entity.__entity : entity },
  });
  if (constraint.op === 'All') return [];
  if (constraint.op === 'is') {
    const inside = constraint.in !== undefined && 'entity' in constraint.in ? { in: value(constraint.in.entity) } : {};
    return when({ is: { left, entity_type: constraint.entity_type, ...inside } });
  }
  if (!('entity' in constraint)) return [];
  const right = value(constraint.entity);
  return when(constraint.op === '==' ? { '==': { left, right } } : { in: { left, right } });
}

/** A condition as it is written in a policy. */
function textOf(cedar: Cedar, clause: Clause): string {
  const written = cedar.policyToText(permitWhen(clause));
  if (written.type === 'failure') return JSON.stringify(clause.body);
  const inside = /(?:when|unless)\s*\{([\s\S]*)\}\s*;?\s*$/.exec(written.text)?.[1] ?? written.text;
  const condition = inside.replace(/\s+/g, ' ').trim();
  return clause.kind === 'unless' ? `not (${condition})` : condition;
}
