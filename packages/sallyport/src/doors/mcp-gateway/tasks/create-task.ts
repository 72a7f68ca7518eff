import type { ToolInvokeRequest, ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { type RpcAnswer, type RpcId, type RpcRequest, resultAnswer } from '../../json-rpc.ts';
import { declaresTasks, tasksMissing } from '../../mcp-protocol.ts';
import { type Peer, protocolError } from '../../mcp-server.ts';
import { isOpen } from '../confirmation/decide.ts';
import { endedAnswer } from '../methods/call-answer.ts';
import type { ResultFrame } from '../methods/call-result.ts';
import { questionsOf } from './task-input.ts';
import type { TaskParts } from './task-parts.ts';
import { taskView } from './task-view.ts';

/** Code of a call that is no task where it must be one, or is one where it may not. */
const WRONG_WAY = 'E3822';
/** `_meta` key of a text that a host may give the model while the task runs (2025-11-25, creating tasks). */
const META_IMMEDIATE = 'io.modelcontextprotocol/model-immediate-response';

/** Makes tasks of calls. */
export interface TaskCreation {
  /** True when the request has to be answered with a task, or a string with the fault in its wish. */
  isWanted(input: ToolInvokeRequest, request: RpcRequest, peer: Peer): Promise<boolean | string>;
  /** Accepts the call, and answers with its task. */
  create(input: ToolInvokeRequest, request: RpcRequest, peer: Peer, caller: Caller): Promise<RpcAnswer>;
  /** The answer of a call that waits, when this client gets a task for it. */
  ofWaiting(id: RpcId, response: ToolInvokeResponse, peer: Peer): RpcAnswer | undefined;
  /** The answer for a client that cannot get the task that it would need; undefined for any other refusal. */
  refused(id: RpcId, response: ToolInvokeResponse, peer: Peer): RpcAnswer | undefined;
}

/**
 * In 2025-11-25 the client asks for a task. In 2026-07-28 the layer decides: clients that declare the extension get one
 * for each call of a tool that says so, and for any call that waits for an approver.
 */
export function createTaskCreation(parts: TaskParts, frame: ResultFrame): TaskCreation {
  const { layer, toolLists } = parts;
  return {
    async isWanted({ tool_id }, { params }, peer) {
      if (peer.era === 'legacy') return params['task'] === undefined ? false : wishFault(params['task']);
      // A request that brings answers belongs to a call that runs already.
      if (!declaresTasks(peer.can) || params['requestState'] !== undefined) return false;
      const support = await toolLists.taskSupportOf(peer.caller, tool_id);
      return support === 'optional' || support === 'required';
    },
    async create(input, request, peer, caller) {
      const { id } = request;
      const later = { ...input, execution_options: { ...input.execution_options, async_mode: true } };
      const { onProgress: _onProgress, logs: _logs, ...asking } = caller;
      const response = await layer.ask('tools.invoke', later, { ...asking, ...questionsMember(peer) });
      if (isOpen(response)) {
        peer.watch?.followTask?.(response.invocation_id, request, peer);
        return created(id, response, parts, frame);
      }
      // A client that asked for a task expects a task or an error.
      if (frame.era === 'legacy' && response.error !== undefined) return protocolError(id, response.error);
      return endedAnswer(id, response, { toolLists, caller, toolId: input.tool_id }, frame);
    },
    ofWaiting: (id, response, peer) =>
      frame.era === 'modern' && declaresTasks(peer.can) ? created(id, response, parts, frame) : undefined,
    refused: (id, { error }, peer) =>
      error?.e_code === WRONG_WAY && peer.era === 'modern' && !declaresTasks(peer.can)
        ? tasksMissing(id, 'The tool')
        : undefined,
  };
}

/** What a caller's client can be asked while its call runs as a task. */
export function questionsMember({ can }: Peer): Pick<Caller, 'questions'> {
  const questions = questionsOf(can);
  return questions === undefined ? {} : { questions };
}

/** True for a wish that is well formed; the time that it asks for is replaced by the layer's own. */
function wishFault(task: unknown): true | string {
  if (!isObject(task)) return 'The member task must be an object.';
  const { ttl } = task;
  if (ttl === undefined || (typeof ttl === 'number' && Number.isFinite(ttl) && ttl >= 0)) return true;
  return 'The member task.ttl must be a number of milliseconds, 0 or more.';
}

function created(id: RpcId, response: ToolInvokeResponse, parts: TaskParts, frame: ResultFrame): RpcAnswer {
  const { invocation_id: taskId, execution_metadata } = response;
  const state = { taskId, status: 'working' as const, acceptedAt: execution_metadata.started_at };
  const view = taskView(state, parts.resultsKeptMs, frame.era);
  if (frame.era === 'modern')
    return resultAnswer(id, `{"resultType":"task",${JSON.stringify(view).slice(1, -1)}${metaMember(frame)}}`);
  const _meta = { [META_IMMEDIATE]: `The call was accepted and runs as the task ${taskId}; there is no result yet.` };
  return resultAnswer(id, JSON.stringify({ task: view, _meta }));
}

const metaMember = ({ metaOpening }: ResultFrame): string =>
  metaOpening === '' ? '' : `,"_meta":{${metaOpening.slice(0, -1)}}`;
