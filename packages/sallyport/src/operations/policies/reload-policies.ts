import { NoInput } from '../../../api/schemas/identifiers.ts';
import { PolicyReloadResponse } from '../../../api/schemas/policy.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { mayKeepPolicies } from './owns-policies.ts';

/** Reads the files again and puts them in force; E3214 when they have a fault, and nothing changes. */
export const reloadPolicies = operation({
  name: 'policies.reload',
  summary: 'Read the policies again and forget every decision made before (PRM-05)',
  method: 'POST',
  path: '/v1/policies/reload',
  status: 200,
  access: 'operator',
  layerWide: true,
  input: NoInput,
  output: PolicyReloadResponse,
  run: (parts: Pick<OperationParts, 'policies' | 'catalogTenant' | 'defaultTenant'>) => (_input, asker) => {
    const { principal, caller } = asker;
    return mayKeepPolicies(parts, asker) ?? parts.policies.reload({ agentDid: principal.agentDid, door: caller.door });
  },
});
