import { CallListRequest, CallListResponse } from '../../../api/schemas/calls/call-list.ts';
import { DryRunResponse } from '../../../api/schemas/calls/dry-run.ts';
import {
  ToolCancelRequest,
  ToolCancelResponse,
  ToolExtendRequest,
  ToolExtendResponse,
  ToolInvokeRequest,
  ToolInvokeResponse,
  ToolStatusRequest,
  ToolStatusResponse,
  ToolWatchRequest,
  ToolWatchResponse,
} from '../../../api/schemas/invocation.ts';
import type { OperationEntry } from '../operation.ts';

/** One call: asked for, looked at, ended (BC-2). */
export const INVOCATIONS = {
  'tool.invoke': {
    summary: 'Invoke a tool (BC-2)',
    method: 'POST',
    path: '/v1/invocations',
    status: 200,
    access: 'token',
    input: ToolInvokeRequest,
    output: ToolInvokeResponse,
  },
  'tool.dry_run': {
    summary: 'Say what would become of an invocation, and why; nothing is run or taken',
    method: 'POST',
    path: '/v1/dry-runs',
    status: 200,
    access: 'token',
    input: ToolInvokeRequest,
    output: DryRunResponse,
  },
  'calls.list': {
    summary: 'List invocations: the own ones, or all of the tenant for who reads it',
    method: 'GET',
    path: '/v1/invocations',
    status: 200,
    access: 'token',
    input: CallListRequest,
    output: CallListResponse,
  },
  'tool.status': {
    summary: 'Status of an invocation (BC-2)',
    method: 'GET',
    path: '/v1/invocations/{invocation_id}',
    status: 200,
    access: 'token',
    input: ToolStatusRequest,
    output: ToolStatusResponse,
  },
  'tool.cancel': {
    summary: 'Cancel an invocation (BC-2)',
    method: 'DELETE',
    path: '/v1/invocations/{invocation_id}',
    status: 200,
    access: 'token',
    input: ToolCancelRequest,
    output: ToolCancelResponse,
  },
  'tool.watch': {
    summary: 'Status of an invocation once it is another than the caller knows',
    method: 'GET',
    path: '/v1/invocations/{invocation_id}/changes',
    status: 200,
    access: 'token',
    input: ToolWatchRequest,
    output: ToolWatchResponse,
  },
  'tool.extend': {
    summary: 'Give an asynchronous invocation that runs more time',
    method: 'POST',
    path: '/v1/invocations/{invocation_id}/extension',
    status: 200,
    access: 'token',
    input: ToolExtendRequest,
    output: ToolExtendResponse,
  },
} as const satisfies Record<string, OperationEntry>;
