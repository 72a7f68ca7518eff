import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { mayKeepPolicies } from './owns-policies.ts';

/** Puts the files as they are now in force; E3214 when they have a fault, and nothing changes. */
export function reloadPolicies(
  parts: Pick<OperationParts, 'policies' | 'catalogTenant' | 'defaultTenant'>,
): Run<'policy.reload'> {
  return (_input, asker) => {
    const { principal, caller } = asker;
    return mayKeepPolicies(parts, asker) ?? parts.policies.reload({ agentDid: principal.agentDid, door: caller.door });
  };
}
