import { DryRunResponse } from '../../../api/schemas/dry-run.ts';
import {
  ToolCancelRequest,
  ToolCancelResponse,
  ToolInvokeRequest,
  ToolInvokeResponse,
  ToolStatusRequest,
  ToolStatusResponse,
} from '../../../api/schemas/invocation.ts';
import type { OperationEntry } from './entry.ts';

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
} as const satisfies Record<string, OperationEntry>;
