import type { POLICY } from '../catalogue/policy.ts';
import type { OperationsOf } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { explainPolicy } from './explain-policy.ts';
import { listPolicies } from './list-policies.ts';
import { reloadPolicies } from './reload-policies.ts';
import { testPolicies } from './test-policies.ts';

/** What does each operation on policies. */
export const policyOperations = (parts: OperationParts): OperationsOf<typeof POLICY> => ({
  'policy.list': listPolicies(parts),
  'policy.reload': reloadPolicies(parts),
  'policy.test': testPolicies(parts),
  'policy.why': explainPolicy(parts),
});
