import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Link } from '../link.ts';
import type { Multiplexer } from '../multiplexer.ts';
import type { RequestOptions } from '../request-table.ts';
import { followTask } from './follow-task.ts';
import type { RequestAboutTask } from './request-about-task.ts';
import { TASK_NAME_HEADER, TASKS_EXTENSION, type TaskForm } from './task-form.ts';

/** Requests about the tasks of one server. */
export function taskLink(
  mux: Multiplexer,
  label: string,
  form: TaskForm | undefined,
): Pick<Link, 'follow' | 'cancelTask'> {
  const request: RequestAboutTask = (method, { taskId }, more, options) =>
    mux.request(method, { taskId, ...more }, form === 'modern' ? declared(taskId, options) : options);
  return {
    follow(task, options) {
      if (form === undefined) return Promise.reject(noTasks(label));
      return followTask({ mux, label, form, request }, task, options);
    },
    async cancelTask(task, options) {
      if (form !== undefined) await request('tasks/cancel', task, {}, options);
    },
  };
}

/** In 2026-07-28 each request declares the extension, and its header names the task. */
function declared(taskId: string, options: RequestOptions): RequestOptions {
  const headers = { ...options.headers, [TASK_NAME_HEADER]: headerValue(taskId) };
  return { ...options, headers, extensions: { [TASKS_EXTENSION]: {} } };
}

/** Values that are not plain ASCII are Base64 (2026-07-28, value encoding). */
function headerValue(text: string): string {
  const plain = /^[\x21-\x7e]+$/.test(text) && !text.startsWith('=?base64?');
  return plain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

const noTasks = (label: string): ToolLayerError =>
  new ToolLayerError('E3308', `The upstream '${label}' began a task, and says now that it has none.`, {
    details: { reached: true },
  });
