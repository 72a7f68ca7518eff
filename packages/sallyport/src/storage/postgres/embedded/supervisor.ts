import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../telemetry/log.ts';
import type { ServerProcess } from './server-process.ts';

/** Waits before the first, second, … restart in a row; the last one repeats for ever. */
const RESTART_DELAYS_MS = [0, 1_000, 5_000, 30_000];
/** After this run time the waits begin anew, ms. */
const STEADY_MS = 60_000;

/** A server that is restarted when it ends by itself. */
export interface SupervisedServer {
  /** Process id of the running server; undefined between two servers. */
  pid(): number | undefined;
  /** Stops the server for good. Idempotent. */
  stop(): Promise<void>;
}

/** Keeps a server running: without it the layer can record nothing, and so run nothing. */
export function supervise(
  first: ServerProcess,
  start: () => Promise<ServerProcess>,
  log: Log,
  delaysMs: readonly number[] = RESTART_DELAYS_MS,
): SupervisedServer {
  const stopping = new AbortController();
  let running: ServerProcess | undefined = first;
  const finished = keep();

  async function keep(): Promise<void> {
    let failures = 0;
    while (running !== undefined) {
      const startedAt = performance.now();
      const how = await running.ended;
      running = undefined;
      if (performance.now() - startedAt > STEADY_MS) failures = 0;
      while (running === undefined && !stopping.signal.aborted) {
        log.error('postgres-ended', { how, failures });
        running = await again(failures);
        failures += 1;
      }
    }
  }

  async function again(failures: number): Promise<ServerProcess | undefined> {
    const delayMs = delaysMs[Math.min(failures, delaysMs.length - 1)];
    try {
      await sleep(delayMs, undefined, { signal: stopping.signal, ref: false });
      const server = await start();
      if (stopping.signal.aborted) await server.stop();
      return server;
    } catch (error) {
      if (!stopping.signal.aborted) log.error('postgres-restart-failed', { error: String(error) });
      return undefined;
    }
  }

  return {
    pid: () => running?.pid,
    async stop() {
      stopping.abort();
      await running?.stop();
      await finished;
    },
  };
}
