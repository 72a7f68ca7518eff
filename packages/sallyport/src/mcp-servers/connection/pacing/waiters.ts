import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Link } from '../link.ts';

/** Most calls that wait for one upstream to start; one more is refused with E3803. */
const WAITING_MAX = 1024;

/** Calls that wait for a connection. */
export interface Waiters {
  /**
   * @param deadline on the monotonic clock, ms
   * @throws the error passed to `refuse`; E3803 when too many wait; the signal's reason
   */
  wait(deadline: number, ms: number, signal: AbortSignal | undefined, late: () => ToolLayerError): Promise<Link>;
  /** Gives the connection to all waiting calls. */
  serve(link: Link): void;
  /** Refuses calls whose deadline is before `from`. */
  refuse(from: number, reason: () => ToolLayerError): void;
}

interface Waiter {
  readonly deadline: number;
  resolve(link: Link): void;
  reject(error: unknown): void;
}

/** Makes an empty list of waiting calls. */
export function createWaiters(label: string): Waiters {
  const waiting = new Set<Waiter>();
  return {
    wait(deadline, ms, signal, late) {
      if (signal?.aborted === true) return Promise.reject(signal.reason);
      if (waiting.size >= WAITING_MAX) {
        const message = `${WAITING_MAX} calls already wait for the upstream '${label}' to start. Try again later.`;
        return Promise.reject(new ToolLayerError('E3803', message, { details: { reached: false } }));
      }
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          waiting.delete(waiter);
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
        };
        const waiter: Waiter = {
          deadline,
          resolve(link) {
            leave();
            resolve(link);
          },
          reject(error) {
            leave();
            reject(error);
          },
        };
        const onAbort = (): void => waiter.reject(signal?.reason);
        const timer = setTimeout(() => waiter.reject(late()), ms);
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.add(waiter);
      });
    },
    serve(link) {
      for (const waiter of [...waiting]) waiter.resolve(link);
    },
    refuse(from, reason) {
      for (const waiter of [...waiting]) if (waiter.deadline < from) waiter.reject(reason());
    },
  };
}
