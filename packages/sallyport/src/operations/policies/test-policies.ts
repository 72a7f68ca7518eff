import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { type PolicyFileBody, PolicyTestRequest, PolicyTestResponse } from '../../../api/schemas/policy.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { mayKeepPolicies } from './owns-policies.ts';
import { readCases } from './read-cases.ts';

type Parts = Pick<OperationParts, 'policies' | 'schemas' | 'catalogTenant' | 'defaultTenant'>;

/** Cases of one request: they are evaluated synchronously, while the layer does nothing else. */
const CASES_MAX = 10_000;

/** Runs tests against policies that are not put in force; unreadable cases are reported beside the results. */
export const testPolicies = operation({
  name: 'policies.test',
  summary: 'Run the tests of policies against policies that are not put in force',
  method: 'POST',
  path: '/v1/policies/test',
  status: 200,
  access: 'operator',
  layerWide: true,
  input: PolicyTestRequest,
  output: PolicyTestResponse,
  run:
    (parts: Parts) =>
    async ({ policies, tests }, asker) => {
      const refused = mayKeepPolicies(parts, asker);
      if (refused !== undefined) return refused;
      try {
        const files: readonly PolicyFileBody[] = tests ?? (await parts.policies.testFiles());
        const { cases, faults } = readCases(files, parts.schemas);
        if (cases.length > CASES_MAX) faults.push({ message: `Only the first ${CASES_MAX} tests were run.` });
        const results = await parts.policies.test(policies, cases.slice(0, CASES_MAX));
        const passed = results.filter((result) => result.passed).length;
        return { passed, failed: results.length - passed, faults, cases: results };
      } catch (thrown) {
        const { code, message, details } = failureOf(thrown);
        if (code !== 'E3214') throw thrown;
        return { passed: 0, failed: 0, faults: [{ message, ...details }], cases: [] };
      }
    },
});
