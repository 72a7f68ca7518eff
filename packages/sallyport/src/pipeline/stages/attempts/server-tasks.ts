import type { ServerTask } from '../../../domain/invocation/tasks/server-task.ts';
import { isSafeToRepeat } from '../../../domain/tool/tool-version.ts';
import type { ExecutorCall } from '../../../executors/executor.port.ts';
import type { Authorized, CallRequest, Resolved } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../../parts.ts';
import { recordOf } from '../../record/call-record.ts';
import { retryWhileUnavailable } from '../../record/retry-while-unavailable.ts';
import { cannotWait } from '../grant/own-token.ts';

/** Dependencies of calls whose server runs them as tasks. */
export type ServerTaskParts = Pick<PipelineParts, 'clock' | 'instanceId' | 'ledger' | 'secrets'>;

/**
 * What becomes of a call whose server answers with a task. A call that a worker runs keeps the task's id in its row, so
 * that whoever runs it next takes the task up. A call whose client takes tasks is set aside with it. Other MCP clients
 * learn from the server itself that they need tasks, unless the operator says otherwise; other callers wait for the end.
 */
export function serverTasksOf(
  parts: ServerTaskParts,
  call: CallRequest & Resolved & Authorized,
  ongoing: OngoingCall,
): Pick<ExecutorCall, 'serverTask' | 'onServerTask' | 'wantsServerTask' | 'mayRunLater'> {
  const { toolRun, resumed } = ongoing;
  if (resumed !== undefined) {
    // Another attempt calls the server anew.
    const earlier = toolRun.attempts === 1 ? resumed.waiting.serverTask : undefined;
    if (earlier !== undefined) toolRun.noteServerTask(earlier);
    const onServerTask = (task: ServerTask) => keptInRow(parts, ongoing, task);
    return { onServerTask, wantsServerTask: true, ...(earlier === undefined ? {} : { serverTask: earlier }) };
  }
  const { caller, tool } = call;
  if (caller.takesTasks === true && cannotWait(parts, call, 'for a worker') === undefined) {
    return {
      ...(isSafeToRepeat(tool.manifest) ? { mayRunLater: true as const } : {}),
      wantsServerTask: true,
      onServerTask: async (task) => {
        toolRun.noteServerTask(task);
        return 'later';
      },
    };
  }
  // Where the operator says that calls may be tasks, the layer waits for the server's task for clients without tasks.
  const mayWait = caller.door !== 'mcp' || tool.manifest.execution_config?.task_support === 'optional';
  return mayWait || caller.takesTasks === true ? { onServerTask: async () => 'here' } : {};
}

/** The id is on the disk before the task is waited for. */
async function keptInRow(parts: ServerTaskParts, ongoing: OngoingCall, task: ServerTask): Promise<'here'> {
  ongoing.toolRun.noteServerTask(task);
  const record = recordOf(parts, ongoing, { state: 'EXECUTING' });
  await retryWhileUnavailable(() => parts.ledger.commit({ record, events: [], durability: 'synchronous' }));
  return 'here';
}
