import type { Log } from '../../telemetry/log.ts';

/** What is followed, and how. */
export interface FollowOptions<Change> {
  /** What changed after a revision; everything for 0. */
  readonly read: (revision: number) => Promise<Change & { readonly revision: number }>;
  readonly take: (change: Change) => void;
  /** Time between two looks, in ms. */
  readonly intervalMs: number;
  /** Line of the log when a look fails. */
  readonly event: string;
  readonly log: Log;
}

/** Keeps memory in step with a store that other instances write too, until it is disposed. */
export interface Follower extends AsyncDisposable {
  /** Reads everything, and then follows. Rejects with what the store throws. */
  start(): Promise<void>;
  /** Looks, beginning after this moment: what was written before is known afterwards. Rejects with what the store throws. */
  lookAfresh(): Promise<void>;
  /** Why the last look failed; undefined when it did not. */
  problem(): string | undefined;
}

/** A store that does not answer is asked again at the next turn; what is known stands until then. */
export function createFollower<Change>(options: FollowOptions<Change>): Follower {
  const { read, take, intervalMs, event, log } = options;
  let revision = 0;
  let looking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let problem: string | undefined;
  const load = async (): Promise<void> => {
    const change = await read(revision);
    take(change);
    revision = change.revision;
    problem = undefined;
  };
  const look = (): Promise<void> => {
    looking ??= load().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const turn = async (): Promise<void> => {
    try {
      await look();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      // Said once for each outage: twice a second would drown the log.
      if (problem === undefined && !closed) log.error(event, { reason });
      problem = reason;
    }
    plan();
  };
  const plan = (): void => {
    if (!closed) timer = setTimeout(() => void turn(), intervalMs).unref();
  };
  return {
    async start() {
      await look();
      if (timer === undefined) plan();
    },
    async lookAfresh() {
      await looking?.catch(() => undefined);
      await look();
    },
    problem: () => problem,
    async [Symbol.asyncDispose]() {
      closed = true;
      clearTimeout(timer);
      await looking?.catch(() => undefined);
    },
  };
}
