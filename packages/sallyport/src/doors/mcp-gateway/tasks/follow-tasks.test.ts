import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { followInSession } from './follow-tasks.ts';
import type { TaskParts } from './task-parts.ts';

/** Follows a task; the database is away at the first look at it, and the task is over at the second one. */
function followed() {
  const told: unknown[] = [];
  let looks = 0;
  const metadata = { completed_at: '2026-03-01T12:00:01.000Z' };
  const invocation = {
    ...{ invocation_id: 'task', tool_id: 'slow', state: 'COMPLETED', status: 'success', deferred: true, result: 1 },
    ...{ accepted_at: '2026-03-01T12:00:00.000Z', execution_metadata: metadata },
  };
  const ask = async (): Promise<unknown> => {
    looks += 1;
    if (looks === 1) throw new ToolLayerError('E3812', 'It is away.');
    return { event_id: 'e', changed: true, over: true, invocation };
  };
  const parts = { layer: { ask } as unknown as ToolLayer, log: silentLog } as TaskParts;
  const tasks = followInSession(parts, (method, params) => void told.push({ method, ...params }));
  tasks.follow('task', { caller: { door: 'mcp' }, can: {} });
  return { told, tasks };
}

test('API-03.10 a session is notified of the end of its task, also after an outage of the database', async () => {
  const { told, tasks } = followed();
  const status = { method: 'notifications/tasks/status', taskId: 'task', status: 'completed' };
  await expect.poll(() => told).toMatchObject([status]);
  tasks[Symbol.dispose]();
});
