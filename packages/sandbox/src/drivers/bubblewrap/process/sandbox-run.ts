import { constants } from 'node:os';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { LimitName, SandboxExit, SandboxLimits, SandboxProcess } from '../../../driver.port.ts';
import { EGRESS_DEFAULTS, type EgressRun } from '../../../egress-gate.ts';
import { killOnDispose } from '../../../kill-on-dispose.ts';
import { startOf } from '../../../linux/crash/layer-mark.ts';
import { childrenOf, type TreeWatch, watchTree } from '../../../linux/limits/watch-tree.ts';
import { signal } from '../../../linux/signal.ts';
import { closeWhenSilent } from '../../../linux/tool-pipes.ts';
import { SANDBOX_BOUNDS } from '../settings.ts';
import type { JobReport } from '../warm/job-report.ts';
import type { Launched } from './launch.ts';
import type { FirstProcess } from './standing.ts';

/** Shells and bubblewrap report a signal as 128 + its number. */
const SIGNAL_BASE = 128;

/** A sandbox whose namespaces are set up. */
export interface RunParts extends Launched {
  readonly first: FirstProcess;
  /** Undefined for a sandbox without network. */
  readonly way: EgressRun | undefined;
  readonly limits: SandboxLimits;
  /** Weaker limits for the exit; absent when all are enforced in full. */
  readonly weakerLimits: readonly LimitName[];
  /** Exit code when the tool's program could not be started; undefined when something else failed. */
  readonly programFault: () => number | undefined;
  /** Report about the job of a sandbox made before it had one; undefined for one that began with its tool. */
  readonly report?: JobReport;
  /** Called once, after every process is gone; not when that could not be determined. */
  readonly onGone: () => void;
}

/** How bubblewrap itself ended. */
interface LauncherEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Runs the sandbox to its end: signals, limits, leftovers, and usage. */
export function runSandbox(parts: RunParts): SandboxProcess {
  const { launcher, first, stdin, stdout, stderr } = parts;
  let over = false;
  let killed = false;
  let deadline: NodeJS.Timeout | undefined;
  const endAll = (): void => {
    if (over) return;
    killed = true;
    // The outer bubblewrap reports the end of the first process, so it must not be killed before.
    if (lives(first)) signal(first.pid, 'SIGKILL');
  };
  const watch =
    parts.group === undefined ? watchTree(first.pid, parts.limits, endAll, parts.report !== undefined) : undefined;
  const { promise: launcherEnded, resolve } = Promise.withResolvers<LauncherEnd>();
  const end = (code: number | null, name: NodeJS.Signals | null): void => {
    over = true;
    clearTimeout(deadline);
    resolve({ code, signal: name });
  };
  if (hasEnded(launcher)) end(launcher.exitCode, launcher.signalCode);
  else launcher.once('exit', end);

  const exited = launcherEnded.then(async (end) => {
    const gone = await waitUntilGone(parts);
    watch?.stop();
    await Promise.all([
      Promise.race([Promise.all([parts.status.ended, parts.report?.ended]), sleep(SANDBOX_BOUNDS.pipeGraceMs)]),
      parts.way?.close(killed ? 0 : EGRESS_DEFAULTS.drainMs),
    ]);
    stdin.destroy();
    for (const pipe of [stdout, stderr]) void closeWhenSilent(pipe);
    const exit = exitOf(parts, end, killed, watch);
    if (gone) parts.onGone();
    void parts.group?.remove();
    return exit;
  });

  const kill = (graceMs = 0): void => {
    if (over) return;
    const [tool] = graceMs > 0 ? childrenOf(first.pid) : [];
    // No tool yet: there is nothing to end gracefully.
    if (tool === undefined) {
      endAll();
      return;
    }
    signal(tool, 'SIGTERM');
    clearTimeout(deadline);
    deadline = setTimeout(endAll, graceMs);
  };

  return killOnDispose({ stdin, stdout, stderr, exited, kill });
}

/** The end of the tool ends bubblewrap at once; daemons that it left die with the first process a moment later. */
async function waitUntilGone({ first, group }: RunParts): Promise<boolean> {
  const giveUpAt = performance.now() + SANDBOX_BOUNDS.goneTimeoutMs;
  for (let looks = 0; ; looks += 1) {
    const left = group === undefined ? [first].filter(lives).map(({ pid }) => pid) : group.pids();
    if (left.length === 0) return true;
    for (const pid of left) signal(pid, 'SIGKILL');
    if (performance.now() > giveUpAt) return false;
    await (looks < SANDBOX_BOUNDS.gonePollTurns ? turn() : sleep(SANDBOX_BOUNDS.gonePollMs));
  }
}

/**
 * True when the first process still lives, and its number was not reused. A zombie counts as gone: the first process
 * becomes one only when no other is left in its namespace.
 */
function lives({ pid, start }: FirstProcess): boolean {
  return start !== undefined && startOf(pid) === start;
}

function exitOf(parts: RunParts, end: LauncherEnd, killed: boolean, watch: TreeWatch | undefined): SandboxExit {
  const usage = parts.group?.usage();
  const cpuMs = usage?.cpuMs ?? watch?.cpuMs ?? 0;
  const ended = endOf(parts, end, killed, usage?.oomKills ?? 0);
  const failed = ended.code !== 0;
  const violation = (): SandboxExit['violation'] => {
    if ((usage?.oomKills ?? 0) > 0) return 'memory';
    if (watch?.violation !== undefined) return watch.violation;
    if (ended.signal === 'SIGXFSZ') return 'disk';
    const cpuSpent = cpuMs >= (parts.limits.cpuSecondsMax ?? Number.POSITIVE_INFINITY) * 1000;
    if (ended.signal === 'SIGXCPU' || (ended.signal === 'SIGKILL' && !killed && cpuSpent)) return 'cpu';
    const full = (usage?.forksRefused ?? 0) > 0 || watch?.full === true;
    return failed && full ? 'processes' : undefined;
  };
  const limit = violation();
  return {
    ...ended,
    ...(limit === undefined ? {} : { violation: limit }),
    cpuMs,
    memoryPeakMb: usage?.memoryPeakMb ?? watch?.memoryPeakMb ?? 0,
    ...(parts.weakerLimits.length === 0 ? {} : { weakerLimits: parts.weakerLimits }),
    ...(parts.way === undefined ? {} : { network: parts.way.usage() }),
  };
}

function endOf(
  { status, programFault, report }: RunParts,
  end: LauncherEnd,
  killed: boolean,
  oomKills: number,
): Pick<SandboxExit, 'code' | 'signal' | 'notStarted' | 'lost'> {
  // The process that waited for the job is not the tool, so its exit code is not the tool's.
  const toolCode = report === undefined || report.hasBegun() ? status.exitCode() : undefined;
  if (toolCode === undefined) {
    if (killed || oomKills > 0) return { signal: 'SIGKILL' };
    // Something other than the layer or a limit ended bubblewrap, and with it the tool, which may have begun.
    if (end.signal !== null) return { lost: true };
    const fault = programFault();
    return fault === undefined ? { code: end.code || 1, notStarted: true } : { code: fault };
  }
  const name = SIGNAL_NAMES.get(toolCode - SIGNAL_BASE);
  return name === undefined ? { code: toolCode } : { signal: name };
}

function hasEnded({ exitCode, signalCode }: Launched['launcher']): boolean {
  return exitCode !== null || signalCode !== null;
}

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);
