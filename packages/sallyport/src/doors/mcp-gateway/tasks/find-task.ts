import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ToolStatusResponse } from '../../../../api/schemas/invocation.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import type { Params } from '../../json-rpc.ts';
import type { TaskParts } from './task-parts.ts';

/** Code of the warning on a call whose result was deleted after its time. */
const FORGOTTEN = 'E3819';

/**
 * The call that a request names as its task: one of the caller's own that was answered before it was over. Roles give
 * access to no task of somebody else.
 * @throws ToolLayerError E3809 for any other call, and for a task whose time is over; E3801 for a text that is no id
 */
export async function findTask({ layer }: Pick<TaskParts, 'layer'>, params: Params, caller: Caller) {
  const found = await layer.ask('invocations.get', { invocation_id: taskIdOf(params), own: true }, withoutEnd(caller));
  return existing(found);
}

/** @throws ToolLayerError E3809 when the call is no task, or its time is over */
export function existing(found: ToolStatusResponse): ToolStatusResponse {
  if (found.deferred !== true) throw new ToolLayerError('E3809', `There is no task ${found.invocation_id}.`);
  if (found.warnings?.some(({ code }) => code === FORGOTTEN) === true)
    throw new ToolLayerError('E3809', `The task ${found.invocation_id} has expired.`);
  return found;
}

/** @throws ToolLayerError E3801 when the request names none */
export function taskIdOf({ taskId }: Params): string {
  if (typeof taskId === 'string') return taskId;
  throw new ToolLayerError('E3801', 'The member taskId must be the id of a task.');
}

/** The caller of a request for a state, which ends with the answer. */
export function withoutEnd({ signal: _signal, onProgress: _onProgress, logs: _logs, ...asking }: Caller): Caller {
  return asking;
}
