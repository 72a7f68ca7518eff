import type { ServerTask } from '../../../domain/invocation/tasks/server-task.ts';
import type { UpstreamCallResult } from '../link.ts';
import type { UpstreamCallOptions } from '../supervised-parts.ts';

/** Calls of upstreams' tools. */
export interface UpstreamCalls {
  /**
   * Calls a tool by the upstream's own name. A call waits, within its time, for an upstream that is not running.
   * @throws ToolLayerError; `details.reached` says whether the server may have acted: E3809 for no such upstream; E3813
   *   when the tool is in quarantine, E3001 when the server no longer lists an accepted tool; E3310 when it is not
   *   running; E3107 when it ended during the call; E3103 out of time; E3805 cancelled; E3309 refused; E3109 reported
   *   an error; E3308 unreadable; E3803 too many in flight; E3303 E3304 E3307 of an HTTP server; with per-caller
   *   connections also E3302 when the call was not granted the connection's credentials, E3803 when there is no room
   *   for one more, and what `add` throws when the server does not accept this caller
   */
  call(
    tenantId: string,
    name: string,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: UpstreamCallOptions,
  ): Promise<UpstreamCallResult>;
  /**
   * Follows a task that an upstream began for a call, to its result.
   * @throws ToolLayerError as `call`
   */
  follow(tenantId: string, name: string, task: ServerTask, options: UpstreamCallOptions): Promise<UpstreamCallResult>;
  /** Has an upstream give a task up. @throws ToolLayerError as `call` */
  cancelTask(tenantId: string, name: string, task: ServerTask, options: UpstreamCallOptions): Promise<void>;
}
