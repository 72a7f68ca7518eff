import { setTimeout as sleep } from 'node:timers/promises';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Caller } from '../../../domain/principal/principal.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { Params } from '../../json-rpc.ts';
import { META_RELATED_TASK } from '../../mcp-protocol.ts';
import { errorEntry, type Notify } from '../../mcp-server.ts';
import { resultFrame } from '../methods/call-result.ts';
import { detailedTask } from './detailed-task.ts';
import { existing, findTask } from './find-task.ts';
import { inputOf } from './task-input.ts';
import type { TaskParts } from './task-parts.ts';
import { isOver, taskState, taskView } from './task-view.ts';

/** Most tasks that are followed for one client. */
const FOLLOWED_MAX = 100;
/** Longest time between two looks at a task, in s; the end of its call is noticed at once. */
const LOOK_SECONDS = 2;

/** The client of a task, as far as notifications concern it. */
export interface Follower {
  readonly caller: Caller;
  /** Capabilities of the client. */
  readonly can: Params;
  /** Token under which a client of 2025-11-25 wants the progress of the task. */
  readonly progressToken?: string | number | undefined;
}

/** Notifications about the tasks of one client, until disposed. */
export interface FollowedTasks extends Disposable {
  /** Follows a task to its end; beyond the limit it is not followed, and its client polls. */
  follow(taskId: string, follower: Follower): void;
}

/** `notifications/tasks/status` and progress, for a session of 2025-11-25. */
export function followInSession(parts: TaskParts, notify: Notify): FollowedTasks {
  return followTasks(parts, async (found, follower) => {
    const asks = !isOver(found) && Object.keys(await inputOf(parts, found, follower)).length > 0;
    const view = taskView(taskState(found, asks), parts.resultsKeptMs, 'legacy');
    notify('notifications/tasks/status', view);
    const { progress_percent: progress, current_phase: message } = found;
    const { progressToken } = follower;
    if (progressToken === undefined || progress === undefined || isOver(found)) return;
    const _meta = { [META_RELATED_TASK]: { taskId: found.invocation_id } };
    const said = { progress, total: 100, ...(message === undefined ? {} : { message }) };
    notify('notifications/progress', { progressToken, ...said, _meta });
  });
}

/** `notifications/tasks`, for a subscription of 2026-07-28. */
export function followInSubscription(parts: TaskParts, notify: Notify): FollowedTasks {
  const frame = resultFrame('modern', { name: 'sallyport', version: '' }, false);
  return followTasks(parts, async (found, follower) => {
    notify('notifications/tasks', await detailedTask(parts, frame, found, follower));
  });
}

/** The tasks among these that are the caller's own. */
export async function ownTasks(parts: TaskParts, wish: unknown, caller: Caller): Promise<readonly string[]> {
  const ids = Array.isArray(wish) ? wish.filter((id) => typeof id === 'string').slice(0, FOLLOWED_MAX) : [];
  const found = ids.map(async (taskId) => {
    const task = await findTask(parts, { taskId }, caller).catch(() => undefined);
    return task === undefined ? [] : [taskId];
  });
  return (await Promise.all(found)).flat();
}

type Status = Awaited<ReturnType<typeof findTask>>;

/** @param show notifies of one state; called for each that differs from the last */
function followTasks(parts: TaskParts, show: (found: Status, follower: Follower) => Promise<void>): FollowedTasks {
  const stop = new AbortController();
  const followed = new Set<string>();
  const run = async (invocation_id: string, follower: Follower): Promise<void> => {
    let after: string | undefined;
    let seenInput = '';
    while (!stop.signal.aborted) {
      const watched = {
        invocation_id,
        own: true,
        wait_seconds: LOOK_SECONDS,
        ...(after === undefined ? {} : { after }),
      };
      const seen = await parts.layer.ask('invocations.watch', watched, { ...follower.caller, signal: stop.signal });
      const found = existing(seen.invocation);
      const input = isOver(found) ? '' : Object.keys(await inputOf(parts, found, follower)).join();
      if (stop.signal.aborted) return;
      if (seen.changed || input !== seenInput) await show(found, follower);
      if (seen.over) return;
      after = seen.event_id;
      seenInput = input;
    }
  };
  const runOn = async (taskId: string, follower: Follower): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        return await run(taskId, follower);
      } catch (thrown) {
        parts.log.debug('task-not-followed', { cause: thrown });
        // A token that expires ends the notifications, as it ends the client's requests; an outage does not.
        if (!errorEntry(failureOf(thrown).code).retryable) return;
        await sleep(LOOK_SECONDS * 1000, undefined, { signal: stop.signal, ref: false }).catch(() => {});
      }
    }
  };
  return {
    follow(taskId, follower) {
      if (followed.has(taskId) || followed.size >= FOLLOWED_MAX) return;
      followed.add(taskId);
      void runOn(taskId, follower).finally(() => followed.delete(taskId));
    },
    [Symbol.dispose]: () => stop.abort(),
  };
}

/** The progress token of a request; undefined when it has none. */
export function progressTokenOf({ _meta }: Params): string | number | undefined {
  const token = isObject(_meta) ? _meta['progressToken'] : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}
