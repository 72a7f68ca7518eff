import {
  OutcomeGetRequest,
  OutcomeListRequest,
  OutcomeListResponse,
  OutcomeReconcileRequest,
  OutcomeSettleRequest,
  ToolVerifyRequest,
  ToolVerifyResponse,
  UnknownOutcome,
} from '../../../api/schemas/calls/outcome.ts';
import type { OperationEntry } from '../operation.ts';

/** Calls of which nobody knows what they did, and whether calls can be made again (PIPE-10, PIPE-13). */
export const OUTCOMES = {
  'outcomes.list': {
    summary: 'List the calls whose outcome is not known',
    method: 'GET',
    path: '/v1/outcomes',
    status: 200,
    access: 'viewer',
    input: OutcomeListRequest,
    output: OutcomeListResponse,
  },
  'outcomes.get': {
    summary: 'Show a call whose outcome is or was not known',
    method: 'GET',
    path: '/v1/outcomes/{invocation_id}',
    status: 200,
    access: 'viewer',
    input: OutcomeGetRequest,
    output: UnknownOutcome,
  },
  'outcomes.settle': {
    summary: 'Say what became of a call whose outcome was not known; once',
    method: 'POST',
    path: '/v1/outcomes/{invocation_id}/settlement',
    status: 200,
    access: 'operator',
    input: OutcomeSettleRequest,
    output: UnknownOutcome,
  },
  'outcomes.reconcile': {
    summary: 'Have a pure tool find out what became of a call whose outcome is not known',
    method: 'POST',
    path: '/v1/outcomes/{invocation_id}/reconciliation',
    status: 200,
    access: 'operator',
    input: OutcomeReconcileRequest,
    output: UnknownOutcome,
  },
  'tool.verify': {
    summary: 'Make a call of a pure tool again, with the arguments that it had, and compare the results',
    method: 'POST',
    path: '/v1/invocations/{invocation_id}/verification',
    status: 200,
    access: 'token',
    input: ToolVerifyRequest,
    output: ToolVerifyResponse,
  },
} as const satisfies Record<string, OperationEntry>;
