import { constants } from 'node:os';
import type { SandboxExit } from '../../../driver.port.ts';
import { LAUNCHER_FAILED } from './launch.ts';

/** runsc reports a signal as 128 + its number, and its own failures as 128. */
const SIGNAL_BASE = 128;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** How runsc ended, and why. */
export interface RunscEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it wrote into its log. */
  readonly complaint: string;
  /** True when the layer ended it. */
  readonly killed: boolean;
}

type ToolEnd = Pick<SandboxExit, 'code' | 'signal' | 'notStarted' | 'lost'>;

/** The end of the tool, derived from the end of runsc. `lost` when it is unknown; a limit may have been the cause. */
export function endOfTool(end: RunscEnd): ToolEnd {
  if (end.killed) return { signal: 'SIGKILL' };
  // Somebody else killed runsc, and with it the tool, which may have begun.
  if (end.signal !== null || end.code === null) return { lost: true };
  if (end.code === LAUNCHER_FAILED && end.complaint === '') return { code: end.code, notStarted: true };
  if (end.code === SIGNAL_BASE && isFailure(end.complaint)) return whyNotStarted(end.complaint);
  const name = SIGNAL_NAMES.get(end.code - SIGNAL_BASE);
  return name === undefined ? { code: end.code } : { signal: name };
}

function isFailure(complaint: string): boolean {
  return /running container|FATAL/.test(complaint);
}

function whyNotStarted(complaint: string): ToolEnd {
  if (/finding executable|failed to load/.test(complaint)) {
    return { code: /permission denied|exec format/i.test(complaint) ? NOT_EXECUTABLE : NOT_FOUND };
  }
  // Failures before the first process runs; later ones are the end of gVisor itself under a running tool.
  if (/creating container|starting container|creating process/.test(complaint)) return { code: 1, notStarted: true };
  return { lost: true };
}

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);
