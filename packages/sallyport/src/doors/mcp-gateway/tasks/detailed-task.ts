import type { ToolInvokeResponse, ToolStatusResponse } from '../../../../api/schemas/invocation.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { Params } from '../../json-rpc.ts';
import { responseOnRecord } from '../confirmation/wait-for-end.ts';
import { endedAnswer } from '../methods/call-answer.ts';
import type { ResultFrame } from '../methods/call-result.ts';
import { type AskingPeer, inputOf } from './task-input.ts';
import type { TaskParts } from './task-parts.ts';
import { isOver, taskState, taskView } from './task-view.ts';

/**
 * A task with its questions, its result or its error (2026-07-28, DetailedTask). What the model can act on is a result,
 * also where it is an error of the tool; only what a client's developer has to mend, and what made the task of an upstream
 * fail, makes a task failed.
 */
export async function detailedTask(
  parts: TaskParts,
  frame: ResultFrame,
  found: ToolStatusResponse,
  peer: AskingPeer,
): Promise<Params> {
  const viewOf = (asks: boolean, status?: 'completed' | 'failed'): Params =>
    taskView(taskState(found, asks, status), parts.resultsKeptMs, 'modern');
  if (!isOver(found)) {
    const inputRequests = await inputOf(parts, found, peer);
    const asks = Object.keys(inputRequests).length > 0;
    return { ...viewOf(asks), ...(asks ? { inputRequests } : {}) };
  }
  if (found.status === 'cancelled') return viewOf(false);
  const of = { toolLists: parts.toolLists, caller: peer.caller, toolId: found.tool_id };
  const response = responseOnRecord(found);
  const { text } = await endedAnswer(0, response, of, frame);
  const answer: unknown = JSON.parse(text);
  const { result, error = failureOfServer(response) } = isObject(answer) ? answer : {};
  return error === undefined ? { ...viewOf(false, 'completed'), result } : { ...viewOf(false, 'failed'), error };
}

/** An upstream's error that is none of its tool's. */
function failureOfServer({ error }: ToolInvokeResponse): Params | undefined {
  const { rpc_code: code, rpc_data } = error?.details ?? {};
  if (error?.e_code !== 'E3109' || typeof code !== 'number') return undefined;
  const { message, e_code } = error;
  return { code, message, data: { ...(isObject(rpc_data) ? rpc_data : {}), e_code } };
}
