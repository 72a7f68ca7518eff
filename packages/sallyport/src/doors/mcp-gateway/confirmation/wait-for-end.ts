import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolInvokeResponse, ToolStatusResponse } from '../../../../api/schemas/invocation.ts';
import { unmeasured } from '../../../domain/invocation/usage.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';

/** Pauses between two polls of the record, in ms; the last one repeats. */
const PAUSES_MS = [2, 5, 10, 20, 50, 100, 250] as const;
const OPEN: ReadonlySet<ToolInvokeResponse['status']> = new Set(['pending', 'running']);

/** The answer of a call as its record has it now. @throws ToolLayerError E3809 when the caller may not see the call */
export async function answerOnRecord(
  layer: ToolLayer,
  caller: Caller,
  invocationId: string,
): Promise<ToolInvokeResponse> {
  const { signal: _signal, onProgress: _onProgress, logs: _logs, ...asking } = caller;
  return responseOnRecord(await layer.ask('invocations.get', { invocation_id: invocationId }, asking));
}

/** The status of a call, as the answer to the call. */
export function responseOnRecord(found: ToolStatusResponse): ToolInvokeResponse {
  const { invocation_id, status, tool_id, tool_version, result, error, execution_metadata, approval, warnings } = found;
  return {
    invocation_id,
    status,
    tool_id,
    ...(tool_version === undefined ? {} : { tool_version }),
    ...('result' in found ? { result } : {}),
    ...(error === undefined ? {} : { error }),
    ...(warnings === undefined ? {} : { warnings }),
    ...(approval === undefined ? {} : { approval }),
    polling_info: { status_url: `/v1/invocations/${encodeURIComponent(invocation_id)}` },
    execution_metadata: execution_metadata ?? unmeasured(0),
  };
}

/**
 * Waits until a call is over, or waits for an approval other than `decided`.
 * @returns the state on record then, or when `signal` aborts first
 */
export async function waitForEnd(
  layer: ToolLayer,
  caller: Caller,
  invocationId: string,
  decided: string,
  signal: AbortSignal,
): Promise<ToolInvokeResponse> {
  for (let look = 0; ; look += 1) {
    const found = await answerOnRecord(layer, caller, invocationId);
    const waits = OPEN.has(found.status) || found.approval?.approval_id === decided;
    if (!waits || signal.aborted) return found;
    await sleep(PAUSES_MS[Math.min(look, PAUSES_MS.length - 1)], undefined, { signal }).catch(() => {});
  }
}
