import { randomUUID } from 'node:crypto';
import { errorBody } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ToolInvokeRequest, ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import type { ConfirmationReason } from '../../../domain/invocation/waiting-call.ts';
import type { LayerDouble } from '../../tool-layer.fixture.ts';
import type { ClientAnswer, ClientConfirmations, ShownQuestion } from '../client-confirmations.port.ts';

interface Waiting {
  readonly input: ToolInvokeRequest;
  readonly expiresAt: number;
  readonly reason: ConfirmationReason;
  response: ToolInvokeResponse;
  decided?: 'approved' | 'denied' | 'expired';
}

/** Calls of a layer double that wait, and approvals in memory that are decided once each. */
export interface WaitingLayer extends ClientConfirmations {
  readonly answers: ClientAnswer[];
  /** Arguments of the calls that ran, in the order of the runs. */
  readonly ran: unknown[];
  readonly calls: Map<string, Waiting>;
  /** Closes an approval because it expired, or because another person decided on it. */
  end(approvalId: string, how: 'expired' | 'approved' | 'denied'): void;
}

const METADATA: ToolInvokeResponse['execution_metadata'] = {
  duration_ms: 1,
  started_at: '2026-01-01T00:00:00.000Z',
  cpu_used_millicore_seconds: 0,
  memory_peak_mb: 0,
  network_bytes_sent: 0,
  network_bytes_received: 0,
  documents_accessed: [],
  checkpoints_created: [],
  attempts: 1,
  cached: false,
};

/** The calls that wait, and what makes them wait. */
interface WaitingState {
  readonly layer: () => LayerDouble;
  readonly reasonOf: (toolId: string) => ConfirmationReason;
  readonly lifeMs: number;
  readonly calls: Map<string, Waiting>;
  readonly ran: unknown[];
}

/**
 * Once installed, makes every call of the double wait for a person. `reasonOf` gives the reason by the name of the
 * tool.
 */
export function waitingLayer(
  layer: () => LayerDouble,
  reasonOf: (toolId: string) => ConfirmationReason = () => 'requires_confirmation',
  lifeMs = 60_000,
): WaitingLayer & { install(): void } {
  const state: WaitingState = { layer, reasonOf, lifeMs, calls: new Map(), ran: [] };
  const { calls, ran } = state;
  const answers: ClientAnswer[] = [];
  const end: WaitingLayer['end'] = (approvalId, how) => {
    const call = calls.get(approvalId);
    if (call === undefined || call.decided !== undefined) throw new ToolLayerError('E3817', 'It is decided already.');
    call.decided = how;
    // As in the real layer: the decision is accepted first, and the call continues later.
    setTimeout(() => finish(call, ran), 5);
  };
  return {
    answers,
    ran,
    calls,
    end,
    install: () => install(state),
    shown: async (_by, approvalId) => questionOf(approvalId, calls.get(approvalId)),
    confirm: async (answer) => {
      answers.push(answer);
      const { approvalId, bindingDigest, accepted } = answer;
      if (bindingDigest !== `digest of ${approvalId}`) throw new ToolLayerError('E3817', 'It is another question.');
      end(approvalId, accepted ? 'approved' : 'denied');
    },
  };
}

function install({ layer, reasonOf, lifeMs, calls }: WaitingState): void {
  layer().answers.set('tools.invoke', (input) => {
    const request = input as ToolInvokeRequest;
    const expiresAt = Date.now() + lifeMs;
    const approval_id = `approval-${randomUUID()}`;
    const reason = reasonOf(request.tool_id);
    const approval = { approval_id, reason, prompt: 'Really?', expires_at: new Date(expiresAt).toISOString() };
    const invocation_id = randomUUID();
    const response: ToolInvokeResponse = {
      invocation_id,
      status: 'pending_approval',
      tool_id: request.tool_id,
      execution_metadata: METADATA,
      polling_info: { status_url: `/v1/invocations/${invocation_id}` },
      approval,
    };
    calls.set(approval_id, { input: request, expiresAt, reason, response });
    return response;
  });
  layer().answers.set('invocations.get', ({ invocation_id }) => {
    const call = [...calls.values()].find(({ response }) => response.invocation_id === invocation_id);
    if (call === undefined) throw new ToolLayerError('E3809', 'There is no such invocation.');
    const { warnings: _warnings, polling_info: _polling, ...shown } = call.response;
    return { ...shown, state: 'AUTHORIZED' };
  });
}

function finish(call: Waiting, ran: unknown[]): void {
  const { invocation_id, tool_id } = call.response;
  const over = { invocation_id, tool_id: tool_id ?? '', execution_metadata: METADATA };
  if (call.decided === 'approved') {
    ran.push(call.input.parameters);
    call.response = { ...over, status: 'success', result: { ran: call.input.parameters ?? {} } };
    return;
  }
  const code = call.decided === 'expired' ? 'E3808' : 'E3807';
  const error = errorBody(new ToolLayerError(code, 'It did not run.').failure);
  call.response = { ...over, status: 'permission_denied', error };
}

function questionOf(approvalId: string, call: Waiting | undefined): ShownQuestion | undefined {
  if (call === undefined || call.decided !== undefined || call.reason === 'requires_approval') return undefined;
  const { input, reason, expiresAt } = call;
  return {
    toolId: input.tool_id,
    toolVersion: '1.0.0',
    reason,
    prompt: 'Really?',
    argumentsText: JSON.stringify(input.parameters ?? {}),
    bindingDigest: `digest of ${approvalId}`,
    expiresAt,
  };
}
