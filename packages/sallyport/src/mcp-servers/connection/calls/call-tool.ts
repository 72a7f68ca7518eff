import { isServerMethod } from '../../../domain/tool/server-methods.ts';
import type { LinkCallOptions, UpstreamCallResult } from '../link.ts';
import type { Multiplexer } from '../multiplexer.ts';
import { inTaskForm, resultOrTask } from '../tasks/start-task.ts';
import type { TaskForm } from '../tasks/task-form.ts';
import { completeResult } from './call-result.ts';
import { requestWithInput } from './request-with-input.ts';

/**
 * Calls a tool, or makes the request that a tool of the layer's own is for. Questions of the server are put to the
 * client of the call.
 * @throws whatever `requestWithInput` throws; E3308 when the answer is no result
 */
export async function callTool(
  mux: Multiplexer,
  label: string,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  { asTask, ...given }: LinkCallOptions,
  form?: TaskForm,
): Promise<UpstreamCallResult> {
  if (isServerMethod(tool)) return completeResult(await requestWithInput(mux, label, tool, args, given), label);
  const { params, options } = inTaskForm({ name: tool, arguments: args }, given, asTask, form);
  return resultOrTask(await requestWithInput(mux, label, 'tools/call', params, options), label, asTask, form);
}
