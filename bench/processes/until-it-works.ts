import { setTimeout as sleep } from 'node:timers/promises';
import { lastWords, type ServerProcess } from './server-process.ts';

const POLL_MS = 10;
const WAIT_MS_MAX = 60_000;

/**
 * For a server that does not say when it is ready: tries again until it works.
 * @throws Error the last one of `attempt`, with what the server says, when the time is up or the server has ended
 */
export async function untilItWorks<T>(server: ServerProcess, attempt: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + WAIT_MS_MAX;
  let ended = false;
  void server.ended.then(() => {
    ended = true;
  });
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (ended || performance.now() > deadline) {
        throw new Error(`${String(error)}; the server's last words: ${lastWords(server.output())}`);
      }
    }
    await sleep(POLL_MS);
  }
}
