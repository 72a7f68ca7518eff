import type { ServerTask } from '../../../domain/invocation/tasks/server-task.ts';
import type { Multiplexer } from '../multiplexer.ts';
import type { RequestOptions } from '../request-table.ts';

/** Sends a request about a task. */
export type RequestAboutTask = (
  method: string,
  task: ServerTask,
  more: Readonly<Record<string, unknown>>,
  options: RequestOptions,
) => ReturnType<Multiplexer['request']>;
