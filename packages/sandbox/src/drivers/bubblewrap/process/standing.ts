import { setTimeout as sleep } from 'node:timers/promises';
import { type CrashTarget, type CrashWatch, processTarget } from '../../../linux/crash/crash-watch.ts';
import { startOf } from '../../../linux/crash/layer-mark.ts';
import { signal } from '../../../linux/signal.ts';
import { SANDBOX_BOUNDS } from '../settings.ts';
import type { Launched } from './launch.ts';

/** The first process inside a sandbox; when it ends, the kernel ends all others. */
export interface FirstProcess {
  /** Pid on the host. */
  readonly pid: number;
  /** Its start time, as `startOf` returns it; undefined when it has ended already. */
  readonly start: string | undefined;
  /** The crash watch's target. */
  readonly target: CrashTarget | undefined;
}

/**
 * Leads bubblewrap through the moments in which its `--die-with-parent` is not effective yet, so that a killed layer
 * leaves nothing (ADR 0005): each step begins when the crash watch knows what to end after it.
 * @param prepare work in the namespaces before anything runs in them
 * @throws Error with bubblewrap's message, after everything started has been ended
 */
export async function standing(
  launched: Launched,
  watch: CrashWatch,
  prepare: ((pid: number) => Promise<void>) | undefined,
): Promise<FirstProcess> {
  const { launcher } = launched;
  const noted: CrashTarget[] = [];
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const late = setTimeout(reject, SANDBOX_BOUNDS.startTimeoutMs, new Error('bubblewrap takes too long'));
  try {
    return await Promise.race([standUp(launched, watch, noted, prepare), failed]);
  } catch (error) {
    // Until the filter is sent, all of bubblewrap's processes are in its process group.
    signal(-launcher.pid, 'SIGKILL');
    for (const target of noted) watch.forget(target);
    launched.abandon();
    throw error;
  } finally {
    clearTimeout(late);
  }
}

async function standUp(
  launched: Launched,
  watch: CrashWatch,
  noted: CrashTarget[],
  prepare: ((pid: number) => Promise<void>) | undefined,
): Promise<FirstProcess> {
  const { target: group, status, stderr } = launched;
  noted.push(group);
  await launched.noted;
  launched.begin();
  const pid = await status.firstPid;
  if (pid === undefined) throw new Error(await complaintOf(stderr));
  // From here the outer bubblewrap dies with the layer; its remaining processes end with the first process inside.
  const start = startOf(pid);
  const target = start === undefined ? undefined : processTarget(pid, start);
  if (target === undefined) {
    watch.forget(group);
  } else {
    noted.push(target);
    await watch.note(target, group);
  }
  await prepare?.(pid);
  launched.release();
  return { pid, start, target };
}

async function complaintOf(stderr: Launched['stderr']): Promise<string> {
  let said = '';
  const collect = (async () => {
    for await (const part of stderr) if (said.length < SANDBOX_BOUNDS.startErrorBytesMax) said += String(part);
  })();
  await Promise.race([collect, sleep(SANDBOX_BOUNDS.pipeGraceMs)]);
  return said.slice(0, SANDBOX_BOUNDS.startErrorBytesMax);
}
