import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Client, Pool } from 'pg';
import type { Log } from '../../../telemetry/log.ts';

/** How often instances read whether they missed something, in ms. */
export const POLL_MS = 400;

/** Dependencies of updates that instances send one another. */
export interface UpdatesParts {
  readonly pool: Pool;
  /** A new connection beside the pool, for LISTEN. */
  readonly connect: () => Client;
  readonly log: Log;
  /** Default 400. */
  readonly pollMs?: number;
}

/** What is read, and how often. */
export interface PollOptions {
  readonly read: () => Promise<void>;
  /** Called in each turn while the last read has failed or is still under way. */
  readonly late?: () => void;
  /** Name of the log line of a read that failed; once per outage, since twice a second would drown the log. */
  readonly event: string;
  readonly log: Log;
  readonly pollMs: number;
}

/** Reads regularly; one read at a time, so a server that hangs is not asked again while it does. */
export function poll({ read, late, event, log, pollMs }: PollOptions): AsyncDisposable {
  let failed = false;
  let reading: Promise<void> | undefined;
  const readOnce = async (): Promise<void> => {
    try {
      await read();
      failed = false;
    } catch (thrown) {
      if (!failed) log.error(event, { reason: failureOf(thrown).message });
      failed = true;
    } finally {
      reading = undefined;
    }
  };
  const timer = setInterval(() => {
    if (failed || reading !== undefined) late?.();
    reading ??= readOnce();
  }, pollMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await reading;
    },
  };
}
