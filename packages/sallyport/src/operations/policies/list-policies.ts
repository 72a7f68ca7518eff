import { PolicyListRequest, PolicyListResponse } from '../../../api/schemas/policy.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { mayKeepPolicies } from './owns-policies.ts';

/** The engines in the order in which they are asked, with the policies in force and those kept out, and the gate. */
export const listPolicies = operation({
  name: 'policies.list',
  summary: 'List the policy engines with the policies in force and in shadow mode, and the state of the gate',
  method: 'GET',
  path: '/v1/policies',
  status: 200,
  access: 'viewer',
  layerWide: true,
  input: PolicyListRequest,
  output: PolicyListResponse,
  run:
    (parts: Pick<OperationParts, 'policies' | 'gate' | 'catalogTenant' | 'defaultTenant'>) =>
    ({ text = false }, asker) =>
      mayKeepPolicies(parts, asker) ?? { engines: [...parts.policies.list(text)], ...gateOf(parts) },
});

function gateOf({ gate }: Pick<OperationParts, 'gate'>): Pick<PolicyListResponse, 'gate'> {
  if (gate === undefined) return {};
  const { model, policies, failOpen } = gate.state;
  return { gate: { model, policies, fail_open: failOpen } };
}
