import { KiB } from '@sallyport/std/bytes';
import { TIMER_MS_MAX } from '@sallyport/std/timer-max';
import { EXECUTION_SETTINGS } from '../../domain/tool/execution-settings.ts';

/** Limits of the skill executor. */
export const SKILL_RUN_BOUNDS = {
  /** Time from SIGTERM to SIGKILL when a call is cancelled or times out, in ms. */
  termGraceMs: 500,
  /** Most processes and threads of one script. */
  processesMax: EXECUTION_SETTINGS.processesMax.default,
  /** Scratch space of one script. */
  diskMb: EXECUTION_SETTINGS.diskMb.default,
  /** Most arguments of a script, and characters of each. */
  argumentsMax: 256,
  argumentCharsMax: 64 * KiB,
  /** The `#!` line of a script must end within this many bytes. */
  shebangBytesMax: 256,
  /** Longest shell script that is screened, in bytes; a longer one does not run. */
  screenedBytesMax: 256 * KiB,
  /** Least age of unnamed contents that are removed to make room, in ms: an import registers its skills last. */
  unnamedMsMin: 3_600_000,
  /** Most skills whose files are in folders. */
  skillsKeptMax: 4_096,
  /** Least time without a call after which a folder makes room for another, in ms: no call lasts longer. */
  unusedMsMin: TIMER_MS_MAX,
} as const;
