import { messageOf } from '@sallyport/std/error/message-of';
import type { Log } from '../../telemetry/log.ts';

/** Source of the changes, and the polling. */
export interface FollowOptions<Change> {
  /** Reads the changes after a revision; everything for 0. */
  readonly read: (revision: number) => Promise<Change & { readonly revision: number }>;
  readonly take: (change: Change) => void;
  /** Time between two polls, in ms. */
  readonly intervalMs: number;
  /** Log event when a poll fails. */
  readonly event: string;
  readonly log: Log;
}

/** Keeps memory in sync with a store that other instances write too, until disposed. */
export interface Follower extends AsyncDisposable {
  /** Reads everything, then follows. Rejects with the store's error. */
  start(): Promise<void>;
  /** Polls, starting after this call: everything written before is known afterwards. Rejects with the store's error. */
  lookAfresh(): Promise<void>;
  /** Error of the last poll; undefined after a success. */
  problem(): string | undefined;
}

/** A store that does not answer is polled again next time; the known state stays until then. */
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
      const reason = messageOf(cause);
      // Logged once per outage: twice a second would drown the log.
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
