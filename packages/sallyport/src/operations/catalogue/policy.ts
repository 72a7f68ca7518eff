import { NoInput } from '../../../api/schemas/identifiers.ts';
import {
  PolicyListRequest,
  PolicyListResponse,
  PolicyReloadResponse,
  PolicyTestRequest,
  PolicyTestResponse,
  PolicyWhyRequest,
  PolicyWhyResponse,
} from '../../../api/schemas/policy.ts';
import type { OperationEntry } from '../operation.ts';

/** What keeps the policies of the layer. */
export const POLICY = {
  'policy.list': {
    summary: 'List the policy engines with the policies in force and in shadow mode',
    method: 'GET',
    path: '/v1/policies',
    status: 200,
    access: 'viewer',
    layerWide: true,
    input: PolicyListRequest,
    output: PolicyListResponse,
  },
  'policy.reload': {
    summary: 'Read the policies again and forget every decision made before (PRM-05)',
    method: 'POST',
    path: '/v1/policies/reload',
    status: 200,
    access: 'operator',
    layerWide: true,
    input: NoInput,
    output: PolicyReloadResponse,
  },
  'policy.test': {
    summary: 'Run the tests of policies against policies that are not put in force',
    method: 'POST',
    path: '/v1/policies/test',
    status: 200,
    access: 'operator',
    layerWide: true,
    input: PolicyTestRequest,
    output: PolicyTestResponse,
  },
  'policy.why': {
    summary: 'Say which policies decided on a call, and what would have to change',
    method: 'POST',
    path: '/v1/policies/why',
    status: 200,
    access: 'viewer',
    input: PolicyWhyRequest,
    output: PolicyWhyResponse,
  },
} as const satisfies Record<string, OperationEntry>;
