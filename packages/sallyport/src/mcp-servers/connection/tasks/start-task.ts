import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../../domain/shape/is-object.ts';
import { callResultOf } from '../calls/call-result.ts';
import type { CallAsTask, UpstreamCallResult } from '../link.ts';
import type { RawResult, RequestOptions } from '../request-table.ts';
import { TASK_ID_CHARS_MAX, TASKS_EXTENSION, type TaskForm } from './task-form.ts';

/** In place of the result of a call that became a task. */
const NOTHING: UpstreamCallResult = { content: [] };

/** The call in the form that lets the server answer with a task; unchanged when it must not, or cannot. */
export function inTaskForm<Options extends RequestOptions>(
  params: Readonly<Record<string, unknown>>,
  options: Options,
  asTask: CallAsTask | undefined,
  form: TaskForm | undefined,
) {
  if (asTask === undefined || form === undefined) return { params, options };
  if (form === 'modern') return { params, options: { ...options, extensions: { [TASKS_EXTENSION]: {} } } };
  return { params: asTask.asks ? { ...params, task: {} } : params, options };
}

/**
 * The result of a call; a task is reported, and its result says nothing.
 * @throws E3308 for a task that nobody asked for, or one without a usable id
 */
export function resultOrTask(
  result: RawResult,
  label: string,
  asTask: CallAsTask | undefined,
  form: TaskForm | undefined,
): UpstreamCallResult {
  const task = form === 'modern' ? modernTask(result) : form === 'legacy' ? result['task'] : undefined;
  if (task === undefined || asTask === undefined) return callResultOf(result, label);
  const taskId = isObject(task) ? task['taskId'] : undefined;
  if (typeof taskId !== 'string' || taskId === '' || taskId.length > TASK_ID_CHARS_MAX) {
    throw new ToolLayerError('E3308', `The upstream '${label}' answered with a task that has no usable id.`, {
      details: { reached: true },
    });
  }
  asTask.onStarted({ taskId });
  return NOTHING;
}

const modernTask = (result: RawResult): unknown => (result['resultType'] === 'task' ? result : undefined);
