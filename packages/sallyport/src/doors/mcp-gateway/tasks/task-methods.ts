import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ListedCall } from '../../../../api/schemas/calls/call-list.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { errorAnswer, type Params, RPC, type RpcAnswer, type RpcId, resultAnswer } from '../../json-rpc.ts';
import { declaresTasks, META_SERVER, tasksMissing } from '../../mcp-protocol.ts';
import type { Method, Peer, ServerIdentity } from '../../mcp-server.ts';
import { resultFrame } from '../methods/call-result.ts';
import { detailedTask } from './detailed-task.ts';
import { findTask, taskIdOf, withoutEnd } from './find-task.ts';
import { inputOf, takeInput } from './task-input.ts';
import type { TaskParts } from './task-parts.ts';
import { taskResult } from './task-result.ts';
import { isOver, statusOf, taskState, taskView } from './task-view.ts';

/** Tasks on one page of tasks/list. */
const PAGE_SIZE = 50;
/** Longest wait for the end of a cancelled call, in ms; a tool that ignores the cancel is given up before. */
const CANCEL_WAIT_MS = 10_000;
const CANCEL_REASON = 'Its client cancelled the task.';

type Methods = readonly (readonly [string, Method])[];

/** The methods of 2025-11-25: state, blocking result, own tasks, cancel. */
export function legacyTaskMethods(parts: TaskParts): Methods {
  const get: Method = async ({ id, params }, peer) => answerWith(id, await simpleTask(parts, params, peer));
  const list: Method = async ({ id, params }, { caller }) => answerWith(id, await taskList(parts, params, caller));
  const cancel: Method = async ({ id, params }, peer) => {
    const before = await findTask(parts, params, peer.caller);
    if (isOver(before)) {
      const message = `The task is over already: ${statusOf(before, false)}.`;
      return errorAnswer(id, RPC.invalidParams, message);
    }
    await cancelTask(parts, params, peer);
    await untilOver(parts, taskIdOf(params), peer);
    return answerWith(id, await simpleTask(parts, params, peer));
  };
  return [
    ['tasks/get', get],
    ['tasks/result', taskResult(parts)],
    ['tasks/list', list],
    ['tasks/cancel', cancel],
  ];
}

/** The methods of the tasks extension (2026-07-28): state with result and questions, answers, cancel. */
export function modernTaskMethods(parts: TaskParts, identity: ServerIdentity): Methods {
  const frame = resultFrame('modern', identity, false);
  const complete = { resultType: 'complete', _meta: { [META_SERVER]: identity } };
  const get: Method = async ({ id, params }, peer) => {
    const found = await findTask(parts, params, peer.caller);
    return answerWith(id, { ...(await detailedTask(parts, frame, found, peer)), ...complete });
  };
  const update: Method = async ({ id, params }, peer) => {
    const { inputResponses } = params;
    if (!isObject(inputResponses))
      return errorAnswer(id, RPC.invalidParams, 'The member inputResponses must be an object.');
    await takeInput(parts, await findTask(parts, params, peer.caller), peer, inputResponses);
    return answerWith(id, complete);
  };
  const cancel: Method = async ({ id, params }, peer) => {
    const found = await findTask(parts, params, peer.caller);
    if (!isOver(found)) await cancelTask(parts, params, peer);
    return answerWith(id, complete);
  };
  const methods = [['tasks/get', get] as const, ['tasks/update', update] as const, ['tasks/cancel', cancel] as const];
  return methods.map(([name, method]) => [name, declared(name, method)]);
}

const answerWith = (id: RpcId, result: Params): RpcAnswer => resultAnswer(id, JSON.stringify(result));

const declared =
  (name: string, method: Method): Method =>
  async (request, peer) =>
    declaresTasks(peer.can) ? method(request, peer) : tasksMissing(request.id, name);

/** A task of 2025-11-25, which has neither result nor questions in it. */
async function simpleTask(parts: TaskParts, params: Params, peer: Peer): Promise<Params> {
  const found = await findTask(parts, params, peer.caller);
  const asks = !isOver(found) && Object.keys(await inputOf(parts, found, peer)).length > 0;
  return taskView(taskState(found, asks), parts.resultsKeptMs, 'legacy');
}

async function cancelTask({ layer }: TaskParts, params: Params, { caller }: Peer): Promise<void> {
  const input = { invocation_id: taskIdOf(params), own: true, reason: CANCEL_REASON };
  await layer.ask('invocations.cancel', input, withoutEnd(caller));
}

async function untilOver({ layer, clock }: TaskParts, invocation_id: string, { caller, signal }: Peer): Promise<void> {
  const end = clock.monotonic() + CANCEL_WAIT_MS;
  let after: string | undefined;
  for (let over = false; !over && !signal.aborted && clock.monotonic() < end; ) {
    const watched = { invocation_id, own: true, wait_seconds: 1, ...(after === undefined ? {} : { after }) };
    const seen = await layer.ask('invocations.watch', watched, { ...caller, signal });
    over = seen.over;
    after = seen.event_id;
  }
}

async function taskList({ layer, resultsKeptMs }: TaskParts, { cursor }: Params, caller: Peer['caller']) {
  if (cursor !== undefined && typeof cursor !== 'string')
    throw new ToolLayerError('E3801', 'The member cursor must be a string.');
  const page = { own: true, deferred: true, limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) };
  const { invocations, next } = await layer.ask('invocations.list', page, withoutEnd(caller));
  const tasks = invocations.filter(({ result_forgotten }) => result_forgotten !== true).map(listedTask(resultsKeptMs));
  return { tasks, ...(next === undefined ? {} : { nextCursor: next }) };
}

/** Whether a task's client has something to answer is not in the list: the task itself says it. */
const listedTask =
  (resultsKeptMs: number | undefined) =>
  (listed: ListedCall): Params => {
    const { invocation_id, accepted_at, completed_at } = listed;
    const state = {
      taskId: invocation_id,
      status: statusOf(listed, false),
      acceptedAt: accepted_at,
      ...(isOver(listed) ? { completedAt: completed_at } : {}),
    };
    return taskView(state, resultsKeptMs, 'legacy');
  };
