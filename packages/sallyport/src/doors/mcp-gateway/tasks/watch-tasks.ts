import type { Caller } from '../../../domain/principal/principal.ts';
import type { Params } from '../../json-rpc.ts';
import type { Notify, Watch } from '../../mcp-server.ts';
import { oneListener } from '../one-listener.ts';
import { followInSession, followInSubscription, ownTasks, progressTokenOf } from './follow-tasks.ts';
import type { TaskParts } from './task-parts.ts';

/** What a client wants to be notified of. */
interface Wanted {
  readonly wish: Params;
  readonly caller: Caller;
  /** Capabilities that a subscription of 2026-07-28 states; undefined for a session. */
  readonly can: Params | undefined;
}

/** A watch that notifies of tasks too: of the tasks of the session, or the ones named by the subscription. */
export async function withTasks(
  parts: TaskParts,
  watch: Watch,
  { wish, caller, can }: Wanted,
  notify: Notify,
): Promise<Watch> {
  if (can === undefined) return inSession(parts, watch, notify);
  if (wish['taskIds'] === undefined) return watch;
  const taskIds = await ownTasks(parts, wish['taskIds'], caller);
  const following = oneListener((listener) => {
    const followed = followInSubscription(parts, notify);
    for (const taskId of taskIds) followed.follow(taskId, { caller: listener, can });
    return followed;
  });
  return {
    ...watch,
    granted: { ...watch.granted, taskIds },
    async listen(listener) {
      await Promise.all([following.listen(listener), watch.listen(listener)]);
    },
    [Symbol.dispose]() {
      following[Symbol.dispose]();
      watch[Symbol.dispose]();
    },
  };
}

function inSession(parts: TaskParts, watch: Watch, notify: Notify): Watch {
  const followed = followInSession(parts, notify);
  return {
    ...watch,
    followTask: (taskId, { params }, { caller, can = {} }) =>
      followed.follow(taskId, { caller, can, progressToken: progressTokenOf(params) }),
    [Symbol.dispose]() {
      followed[Symbol.dispose]();
      watch[Symbol.dispose]();
    },
  };
}
