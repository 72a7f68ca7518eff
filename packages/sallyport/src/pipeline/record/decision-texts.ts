// Hot path: one decision a call; those that are remembered keep their text.

import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { GateDecision } from '../../domain/invocation/gate-decision.ts';
import type { HookVerdict } from '../../hooks/hook.ts';
import { type MadeDecision, recordedDecisionText } from '../../permission/policy-decisions.ts';
import type { ShadowDecision } from '../../permission/policy-engine.port.ts';

/** Names of policies that an event holds. */
const POLICIES_MAX = 16;
/** Characters of one name. */
const NAME_MAX = 200;

const policyTexts = new WeakMap<MadeDecision, string>();

/** `"policy_decision":{…},`, or nothing. */
export function policyText(decision: MadeDecision | undefined): string {
  if (decision === undefined) return '';
  const known = policyTexts.get(decision);
  if (known !== undefined) return known;
  const text = `"policy_decision":${recordedDecisionText(bounded(decision))},`;
  policyTexts.set(decision, text);
  return text;
}

/** Names and faults of foreign engines may be of any length. */
function bounded(decision: MadeDecision): MadeDecision {
  const { policies, shadow } = decision;
  return {
    ...decision,
    policies: namesOf(policies),
    ...(shadow === undefined ? {} : { shadow: boundedShadow(shadow) }),
  };
}

const boundedShadow = ({ allowed, policies, error }: ShadowDecision): ShadowDecision => ({
  allowed,
  policies: namesOf(policies),
  ...(error === undefined ? {} : { error: error.slice(0, NAME_MAX) }),
});

const namesOf = (policies: readonly string[]): string[] =>
  policies.slice(0, POLICIES_MAX).map((name) => name.slice(0, NAME_MAX));

/** `"adversarial_policy_decision":{…},`, or nothing. The name is 002's. */
export function gateText(decision: GateDecision | undefined): string {
  return decision === undefined ? '' : `"adversarial_policy_decision":${canonicalJson(decision)},`;
}

/** `"hooks":[…],`, or nothing. */
export function hooksText(verdicts: readonly HookVerdict[] | undefined): string {
  return verdicts === undefined || verdicts.length === 0 ? '' : `"hooks":${canonicalJson(verdicts)},`;
}
