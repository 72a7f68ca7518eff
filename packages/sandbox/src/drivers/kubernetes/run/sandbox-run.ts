import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { MiB } from '@sallyport/std/bytes';
import type { LimitName, SandboxExit, SandboxLimits, SandboxProcess } from '../../../driver.port.ts';
import { killOnDispose } from '../../../kill-on-dispose.ts';
import { collections, type Pod } from '../api/objects.ts';
import { watchObject } from '../api/watch-object.ts';
import type { Claim } from '../claim/claims.ts';
import { type ExecEnd, type ExecStream, openExec } from '../exec/exec-stream.ts';
import { type Header, type Job, termCommand } from '../exec/launcher.ts';
import { takeHeader } from './header-stream.ts';
import { type ContainerUsage, type Place, reap } from './reap.ts';

/** Shells and container runtimes report a signal as 128 + its number. */
const SIGNAL_BASE = 128;
const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);

/** A pod with a started launcher. */
export interface RunParts extends Place {
  readonly claim: Claim;
  readonly exec: ExecStream;
  readonly job: Job;
  readonly limits: SandboxLimits;
  /** Limits that the pool enforces less than in full. */
  readonly weakerLimits: readonly LimitName[];
}

/** Runs a tool to its end, ends what it left, and gives the pod back. */
export function runSandbox(parts: RunParts): SandboxProcess {
  const { exec } = parts;
  let over = false;
  let killed = false;
  let deadline: NodeJS.Timeout | undefined;
  const { stdout, header } = takeHeader(exec.stdout, parts.job.word);
  exec.stdin.write(parts.job.line);

  const endAll = (): void => {
    if (over || killed) return;
    killed = true;
    clearTimeout(deadline);
    void endByForce(parts, () => over);
  };
  const exited = exec.ended.then(async (end) => {
    over = true;
    clearTimeout(deadline);
    return giveBack(parts, end, { killed, header: header() });
  });
  const kill = (graceMs = 0): void => {
    if (over || killed) return;
    const pid = header()?.pid;
    // No tool yet: there is nothing to end gracefully.
    if (graceMs <= 0 || pid === undefined) {
      endAll();
      return;
    }
    void askToEnd(parts, pid);
    clearTimeout(deadline);
    deadline = setTimeout(endAll, graceMs);
  };
  return killOnDispose({ stdin: exec.stdin, stdout, stderr: exec.stderr, exited, kill });
}

/** SIGTERM by a second program in the pod. If it fails, the deadline ends the tool. */
async function askToEnd({ client, pod, container, bounds }: RunParts, pid: number): Promise<void> {
  try {
    const exec = await openExec(client, { pod, container, command: termCommand(pid) }, bounds);
    const late = setTimeout(exec.cut, bounds.reapTimeoutMs);
    exec.stdin.end();
    for (const stream of [exec.stdout, exec.stderr]) stream.resume();
    await exec.ended;
    clearTimeout(late);
  } catch {
    // The deadline ends it.
  }
}

/** A launcher still on its way to the pod is ended by a later turn; finally the stream is cut and the pod deleted. */
async function endByForce(parts: RunParts, isOver: () => boolean): Promise<void> {
  const { exec, bounds } = parts;
  const giveUpAt = performance.now() + bounds.killTimeoutMs;
  while (!isOver() && performance.now() < giveUpAt) {
    await Promise.race([reap(parts), exec.ended]);
    await Promise.race([exec.ended, sleep(bounds.reapPauseMs)]);
  }
  if (!isOver()) exec.cut();
}

interface Ending {
  readonly killed: boolean;
  readonly header: Header | undefined;
}

/** The claim is always deleted. When processes may remain, the pod's own end is awaited. */
async function giveBack(parts: RunParts, end: ExecEnd, ending: Ending): Promise<SandboxExit> {
  const usage = await reap(parts);
  const isSuspect = usage === undefined && !('refused' in end);
  const isOutOfMemory = (usage?.oomKills ?? 0) > 0 || (isSuspect && (await wasOutOfMemory(parts)));
  await parts.claim.delete();
  if (usage === undefined) await untilGone(parts);
  return exitOf(parts, { ...ending, end, usage, isOutOfMemory });
}

/** The kernel may kill the whole container; then only the pod's status says why. */
async function wasOutOfMemory({ client, pod, container }: RunParts): Promise<boolean> {
  const path = `${collections(client.namespace).pods}/${encodeURIComponent(pod)}`;
  const seen = await client.send<Pod>({ method: 'GET', path }).catch(() => undefined);
  const status = seen?.status?.containerStatuses?.find(({ name }) => name === container);
  return [status?.state, status?.lastState].some((state) => state?.terminated?.reason === 'OOMKilled');
}

async function untilGone({ client, pod, bounds }: RunParts): Promise<void> {
  const waiting = {
    collection: collections(client.namespace).pods,
    name: pod,
    until: () => undefined,
    gone: () => true,
    deadlineAt: performance.now() + bounds.goneTimeoutMs,
    late: () => new Error(`the pod ${pod} is still there`),
  };
  // An unreachable pod ends with its node or its lease.
  await watchObject<Pod, boolean>(client, waiting, bounds).catch(() => false);
}

interface Ended extends Ending {
  readonly end: ExecEnd;
  readonly usage: ContainerUsage | undefined;
  readonly isOutOfMemory: boolean;
}

function exitOf({ limits, weakerLimits }: RunParts, ended: Ended): SandboxExit {
  const { usage, header } = ended;
  const cpuMs = Math.max(0, (usage?.cpuUs ?? 0) - (header?.cpuUs ?? 0)) / 1000;
  const tool = toolEnd(ended);
  const violation = violationOf(ended, tool.signal, cpuMs, limits);
  return {
    ...tool,
    ...(violation === undefined ? {} : { violation }),
    cpuMs,
    memoryPeakMb: (usage?.memoryPeakBytes ?? 0) / MiB,
    weakerLimits,
  };
}

function violationOf(
  { isOutOfMemory, killed }: Ended,
  signal: string | undefined,
  cpuMs: number,
  { cpuSecondsMax }: SandboxLimits,
): SandboxExit['violation'] {
  if (isOutOfMemory) return 'memory';
  if (signal === 'SIGXFSZ') return 'disk';
  const isSpent = cpuMs >= (cpuSecondsMax ?? Number.POSITIVE_INFINITY) * 1000;
  return signal === 'SIGXCPU' || (signal === 'SIGKILL' && !killed && isSpent) ? 'cpu' : undefined;
}

function toolEnd({
  end,
  header,
  killed,
  isOutOfMemory,
}: Ended): Pick<SandboxExit, 'code' | 'signal' | 'notStarted' | 'lost'> {
  if ('lost' in end) {
    if (killed || isOutOfMemory) return { signal: 'SIGKILL' };
    return { lost: true };
  }
  if ('refused' in end) return killed ? { signal: 'SIGKILL' } : { code: 1, notStarted: true };
  const name = SIGNAL_NAMES.get(end.code - SIGNAL_BASE);
  if (header === undefined && !(killed && name === 'SIGKILL')) return { code: end.code || 1, notStarted: true };
  return name === undefined ? { code: end.code } : { signal: name };
}
