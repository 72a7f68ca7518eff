import {
  CompensateAllRequest,
  CompensateAllResponse,
  CompensateRequest,
  CompensationOutcome,
  SideEffectGetRequest,
  SideEffectListRequest,
  SideEffectListResponse,
  SideEffectRecord,
} from '../../../api/schemas/calls/side-effect.ts';
import type { OperationEntry } from '../operation.ts';

/** What calls left behind, and how it is taken back (VIS-03). */
export const SIDE_EFFECTS = {
  'side-effects.list': {
    summary: 'List what calls left behind: the own calls, or all of the tenant for who reads it',
    method: 'GET',
    path: '/v1/side-effects',
    status: 200,
    access: 'token',
    input: SideEffectListRequest,
    output: SideEffectListResponse,
  },
  'side-effects.get': {
    summary: 'What one call left behind, with its arguments where they are kept',
    method: 'GET',
    path: '/v1/side-effects/{invocation_id}',
    status: 200,
    access: 'token',
    input: SideEffectGetRequest,
    output: SideEffectRecord,
  },
  'side-effects.compensate': {
    summary: 'Take back what one call left behind, once, by the tool that its tool names',
    method: 'POST',
    path: '/v1/side-effects/{invocation_id}/compensation',
    status: 200,
    access: 'token',
    input: CompensateRequest,
    output: CompensationOutcome,
  },
  'side-effects.compensate-all': {
    summary: 'Take back what the calls of a turn group left behind, or calls by name, the last first',
    method: 'POST',
    path: '/v1/compensations',
    status: 200,
    access: 'token',
    input: CompensateAllRequest,
    output: CompensateAllResponse,
  },
} as const satisfies Record<string, OperationEntry>;
