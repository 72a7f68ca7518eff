import { visibleLine } from '@sallyport/std/text/visible-text';
import type { ToolStatusResponse } from '../../../../api/schemas/invocation.ts';
import type { Params } from '../../json-rpc.ts';
import type { Era } from '../../mcp-protocol.ts';
import { POLL_INTERVAL_MS } from './task-parts.ts';

/** Status of a task, in both eras. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** What a task is made of: the times of its call, and its status. */
export interface TaskState {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly message?: string | undefined;
  /** ISO 8601. */
  readonly acceptedAt: string;
  readonly completedAt?: string | undefined;
}

const MESSAGE_CHARACTERS_MAX = 500;

/** A task as a client sees it. It is kept for its time after the call completed, so that time is known only then. */
export function taskView(
  { taskId, status, message, acceptedAt, completedAt }: TaskState,
  resultsKeptMs: number | undefined,
  era: Era,
): Params {
  const tookMs = completedAt === undefined ? 0 : Math.max(0, Date.parse(completedAt) - Date.parse(acceptedAt));
  const ttl = resultsKeptMs === undefined ? null : Math.round(tookMs + resultsKeptMs);
  return {
    taskId,
    status,
    ...(message === undefined ? {} : { statusMessage: visibleLine(message, MESSAGE_CHARACTERS_MAX) }),
    createdAt: acceptedAt,
    lastUpdatedAt: completedAt ?? acceptedAt,
    ...(era === 'modern' ? { ttlMs: ttl, pollIntervalMs: POLL_INTERVAL_MS } : { ttl, pollInterval: POLL_INTERVAL_MS }),
  };
}

/** True when a call with this status is over. */
export const isOver = ({ status }: Pick<ToolStatusResponse, 'status'>): boolean =>
  status !== 'pending' && status !== 'running' && status !== 'pending_approval';

/**
 * The state of a task.
 * @param status of an ended call, when it is known better than its own status says
 * @param asks true when its client has something to answer
 */
export function taskState(found: ToolStatusResponse, asks: boolean, status = statusOf(found, asks)): TaskState {
  return {
    taskId: found.invocation_id,
    status,
    message: messageOf(found, asks),
    acceptedAt: found.accepted_at ?? new Date(0).toISOString(),
    completedAt: isOver(found) ? found.execution_metadata?.completed_at : undefined,
  };
}

/** 2025-11-25 counts results with `isError` as failed. */
export function statusOf({ status }: Pick<ToolStatusResponse, 'status'>, asks: boolean): TaskStatus {
  if (status === 'success') return 'completed';
  if (status === 'cancelled') return 'cancelled';
  if (isOver({ status })) return 'failed';
  return asks ? 'input_required' : 'working';
}

function messageOf({ status, error, approval, current_phase }: ToolStatusResponse, asks: boolean): string | undefined {
  if (error !== undefined) return error.message;
  if (asks) return 'The user at the client is asked.';
  if (approval !== undefined) return 'The call waits for a person: an approver has to decide. Nothing was run.';
  if (status === 'pending') return 'The call waits for its turn.';
  return status === 'running' ? (current_phase ?? 'The call runs.') : undefined;
}
