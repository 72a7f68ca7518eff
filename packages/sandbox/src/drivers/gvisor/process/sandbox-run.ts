import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { LimitName, SandboxExit, SandboxLimits, SandboxProcess } from '../../../driver.port.ts';
import { EGRESS_DEFAULTS, type EgressRun } from '../../../egress-gate.ts';
import { killOnDispose } from '../../../kill-on-dispose.ts';
import type { ControlGroup } from '../../../linux/limits/control-group.ts';
import { signal } from '../../../linux/signal.ts';
import { closeWhenSilent } from '../../../linux/tool-pipes.ts';
import type { Bundle } from '../bundle/bundle.ts';
import { GVISOR_BOUNDS } from '../settings.ts';
import { endOfTool } from './exit-of.ts';
import type { Launched } from './launch.ts';
import { watchGroup } from './watch-group.ts';

/** A sandbox that was started. */
export interface RunParts extends Launched {
  readonly group: ControlGroup;
  readonly bundle: Bundle;
  /** Undefined for a sandbox without network. */
  readonly way: EgressRun | undefined;
  readonly limits: SandboxLimits;
  readonly weakerLimits: readonly LimitName[];
  /** Asks the tool to end; resolves false when it could not be asked. */
  readonly ask: () => Promise<boolean>;
  /** Called once, after every process is gone. */
  readonly onGone: () => void;
}

/** Runs the sandbox to its end: signals, limits, leftovers, and usage. */
export function runSandbox(parts: RunParts): SandboxProcess {
  const { launcher, group, stdin, stdout, stderr } = parts;
  let over = false;
  let killed = false;
  let deadline: NodeJS.Timeout | undefined;
  const endAll = (): void => {
    if (over) return;
    killed = true;
    // Also kills the launcher, which may not have joined its group yet.
    if (launcher.pid !== undefined) signal(-launcher.pid, 'SIGKILL');
    for (const pid of group.pids()) signal(pid, 'SIGKILL');
  };
  const watch = watchGroup(group, parts.limits, endAll);
  const { promise: launcherEnded, resolve } = Promise.withResolvers<readonly [number | null, NodeJS.Signals | null]>();
  const ended = (code: number | null, name: NodeJS.Signals | null): void => {
    over = true;
    watch.stop();
    clearTimeout(deadline);
    resolve([code, name]);
  };
  if (launcher.exitCode !== null || launcher.signalCode !== null) ended(launcher.exitCode, launcher.signalCode);
  else launcher.once('exit', ended);

  const exited = launcherEnded.then(async ([code, name]) => {
    const gone = await waitUntilGone(group);
    await parts.way?.close(killed ? 0 : EGRESS_DEFAULTS.drainMs);
    stdin.destroy();
    for (const pipe of [stdout, stderr]) void closeWhenSilent(pipe);
    const complaint = await parts.bundle.complaint();
    const end = endOfTool({ code, signal: name, complaint, killed });
    const exit = exitOf(parts, end, watch.violation);
    await parts.bundle.remove();
    if (gone) parts.onGone();
    void group.remove();
    return exit;
  });

  /** True when the tool was asked to end. In sequence: a later request finds no process once one succeeded. */
  let asked = Promise.resolve(false);
  const ask = async (before: Promise<boolean>): Promise<boolean> => {
    const wasAsked = await before;
    if (over || (await parts.ask())) return true;
    // It may be ending already, with its exit code on the way: then the grace period decides.
    if (!wasAsked) endAll();
    return wasAsked;
  };
  const kill = (graceMs = 0): void => {
    if (over) return;
    if (graceMs === 0) {
      endAll();
      return;
    }
    clearTimeout(deadline);
    deadline = setTimeout(endAll, graceMs);
    asked = ask(asked);
  };

  return killOnDispose({ stdin, stdout, stderr, exited, kill });
}

/** runsc ends with the tool; its children end a moment later, or are killed. */
async function waitUntilGone(group: ControlGroup): Promise<boolean> {
  const giveUpAt = performance.now() + GVISOR_BOUNDS.goneTimeoutMs;
  for (let looks = 0; ; looks += 1) {
    const left = group.pids();
    if (left.length === 0) return true;
    for (const pid of left) signal(pid, 'SIGKILL');
    if (performance.now() > giveUpAt) return false;
    await (looks < GVISOR_BOUNDS.goneFirstTurns ? turn() : sleep(GVISOR_BOUNDS.gonePollMs));
  }
}

function exitOf(
  { group, limits, weakerLimits, way }: RunParts,
  end: ReturnType<typeof endOfTool>,
  watched: SandboxExit['violation'],
): SandboxExit {
  const usage = group.usage();
  const violation = (): SandboxExit['violation'] => {
    if (usage.oomKills > 0) return 'memory';
    if (watched !== undefined) return watched;
    if (end.signal === 'SIGXFSZ') return 'disk';
    const cpuSpent = usage.cpuMs >= (limits.cpuSecondsMax ?? Number.POSITIVE_INFINITY) * 1000;
    if (end.signal === 'SIGXCPU' || (end.signal === 'SIGKILL' && cpuSpent)) return 'cpu';
    return end.code !== 0 && usage.forksRefused > 0 ? 'processes' : undefined;
  };
  const limit = violation();
  return {
    // A tool that ended at a limit is not lost.
    ...(end.lost === true && limit !== undefined ? { signal: 'SIGKILL' } : end),
    ...(limit === undefined ? {} : { violation: limit }),
    cpuMs: usage.cpuMs,
    weakerLimits,
    memoryPeakMb: usage.memoryPeakMb,
    ...(way === undefined ? {} : { network: way.usage() }),
  };
}
