import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * The longest time that work holds the event loop, in ms: processor time of this thread between two of its turns, so that
 * other processes of a busy machine do not count.
 */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let longest = 0;
  const watching = (async () => {
    for (let last = cpuMs(); !isOver; ) {
      await nextTurn();
      const now = cpuMs();
      longest = Math.max(longest, now - last);
      last = now;
    }
  })();
  await work();
  isOver = true;
  await watching;
  return longest;
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
