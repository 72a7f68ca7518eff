import { setTimeout as sleep } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ServerTask } from '../../domain/invocation/tasks/server-task.ts';
import { serverTasksOf } from '../../domain/tool/task-support.ts';
import type { UpstreamCallOptions, UpstreamCallResult, Upstreams } from '../../mcp-servers/upstreams.ts';
import type { ExecutorCall } from '../executor.port.ts';

/** Failures of a connection: the server continues the task, and its state is asked for again. */
const LOST: ReadonlySet<string> = new Set(['E3107', 'E3303', 'E3304', 'E3306', 'E3310']);
/** Errors of a task that its server ended itself. */
const OVER: ReadonlySet<string> = new Set(['E3109', 'E3309']);
/** Pauses before a task is asked for again, in ms. */
const AGAIN_MS = { first: 500, max: 15_000 } as const;
/** Longest time that the cancel of a task may take, in ms; less than the pipeline waits for an aborted run. */
const CANCEL_MS = 2_000;
/** Code with which a run ends here, because another instance continues it. */
const GOES_ON = 'E3811';

/** A call of an upstream's tool. */
interface UpstreamCall {
  readonly call: ExecutorCall;
  readonly upstream: string;
  readonly tool: string;
  readonly options: UpstreamCallOptions & { readonly signal: AbortSignal };
}

type Parts = Pick<Upstreams, 'call' | 'follow' | 'cancelTask'>;

/**
 * The result of a call, also when its server runs it as a task: the task is followed to its end, here or, when the
 * answer is `later`, by the next run of the call. A task that an earlier run of the call began is followed to its end.
 */
export async function callOrFollow(upstreams: Parts, made: UpstreamCall): Promise<UpstreamCallResult | 'later'> {
  const { call, upstream, tool, options } = made;
  const { onServerTask, serverTask } = call;
  if (serverTask !== undefined) return follow(upstreams, made, serverTask);
  const { tenantId, manifest } = call.tool;
  if (onServerTask === undefined) return upstreams.call(tenantId, upstream, tool, call.parameters, options);
  let started: ServerTask | undefined;
  const support = serverTasksOf(manifest.executor.config);
  const asks = support === 'required' || (support === 'optional' && call.wantsServerTask === true);
  const asTask = {
    asks,
    onStarted: (task: ServerTask): void => {
      started = task;
    },
  };
  const result = await upstreams.call(tenantId, upstream, tool, call.parameters, { ...options, asTask });
  if (started === undefined) return result;
  try {
    if ((await onServerTask(started)) === 'later') return 'later';
  } catch (thrown) {
    // Nobody could take it up again.
    await cancel(upstreams, made, started);
    throw thrown;
  }
  return follow(upstreams, made, started);
}

/** A lost connection ends nothing: the task is asked for until it is over, or the call is. */
async function follow(upstreams: Parts, made: UpstreamCall, task: ServerTask): Promise<UpstreamCallResult> {
  const { call, upstream, options } = made;
  const { signal } = options;
  for (let again: number = AGAIN_MS.first; ; again = Math.min(again * 2, AGAIN_MS.max)) {
    try {
      return await upstreams.follow(call.tool.tenantId, upstream, task, options);
    } catch (thrown) {
      if (signal.aborted) {
        const isMovedOn = signal.reason instanceof ToolLayerError && signal.reason.code === GOES_ON;
        if (!isMovedOn) await cancel(upstreams, made, task);
        throw thrown;
      }
      if (!(thrown instanceof ToolLayerError) || !LOST.has(thrown.code)) {
        // A question without an answer, for example: the server would wait for it.
        if (!(thrown instanceof ToolLayerError) || !OVER.has(thrown.code)) await cancel(upstreams, made, task);
        throw thrown;
      }
      await sleep(again, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** As far as the server can be reached: the call ends in any case. */
async function cancel(upstreams: Parts, { call, upstream, options }: UpstreamCall, task: ServerTask): Promise<void> {
  const { onProgress: _onProgress, ...asking } = options;
  const brief = { ...asking, signal: AbortSignal.timeout(CANCEL_MS) };
  await upstreams.cancelTask(call.tool.tenantId, upstream, task, brief).catch(() => undefined);
}
