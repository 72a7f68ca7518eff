// One decision for each call; a cached decision is cut to its limits once.

import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { RecordedDecision } from '../../../api/schemas/policy.ts';
import { type MadeDecision, recordedDecision } from '../../permission/policy-decisions.ts';
import type { ShadowDecision } from '../../permission/policy-engine.port.ts';

/** Number of policy names that an event holds. */
const POLICIES_MAX = 16;
/** Characters of one name. */
const NAME_MAX = 200;

const boundedDecisions = new WeakMap<MadeDecision, RecordedDecision>();

/**
 * A policy decision as the event of a call holds it, cut: foreign engines may return names and faults of any length.
 */
export function boundedDecision(decision: MadeDecision): RecordedDecision {
  const known = boundedDecisions.get(decision);
  if (known !== undefined) return known;
  const { policies, shadow } = decision;
  const bounded = recordedDecision({
    ...decision,
    policies: namesOf(policies),
    ...(shadow === undefined ? {} : { shadow: boundedShadow(shadow) }),
  });
  boundedDecisions.set(decision, bounded);
  return bounded;
}

const boundedShadow = ({ allowed, policies, error }: ShadowDecision): ShadowDecision => ({
  allowed,
  ...(error === undefined ? {} : { error: error.slice(0, NAME_MAX) }),
  policies: namesOf(policies),
});

const namesOf = (policies: readonly string[]): string[] =>
  policies.slice(0, POLICIES_MAX).map((name) => name.slice(0, NAME_MAX));

/** The same with its members in canonical order at every level. Used for what is rare in the events of calls. */
export const inCanonicalOrder = (value: object | undefined): unknown =>
  value === undefined ? undefined : JSON.parse(canonicalJson(value));
