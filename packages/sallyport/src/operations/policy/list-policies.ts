import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { mayKeepPolicies } from './owns-policies.ts';

/** The engines in the order in which they are asked, with what is in force and what was not taken. */
export function listPolicies(
  parts: Pick<OperationParts, 'policies' | 'catalogTenant' | 'defaultTenant'>,
): Run<'policy.list'> {
  return ({ text = false }, asker) => mayKeepPolicies(parts, asker) ?? { engines: [...parts.policies.list(text)] };
}
