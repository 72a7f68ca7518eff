import { KiB, MiB } from '@sallyport/std/bytes';
import type { SandboxLimits } from '../../../driver.port.ts';
import { LAUNCHER_PROCESSES } from '../../../linux/limits/control-group.ts';
import { SANDBOX_BOUNDS } from '../settings.ts';
import { LAUNCHER_FAILED } from './shell-text.ts';

/** Unit of `ulimit -f`. */
const FILE_BLOCK_BYTES = 512;
/**
 * What a process may reserve beyond its memory. Node 24 reserves 560 MiB of writable addresses at its start and uses few of
 * them, so that a tighter RLIMIT_DATA stops it at once; what is really used is bounded by sampling.
 */
const RESERVED_BYTES = 1024 * MiB;

/** Limits that hold per process, set before bubblewrap starts. A limit of the layer that is lower stays. */
export function processLimitLines(limits: SandboxLimits): readonly string[] {
  const lines = [
    'ulimit -c 0',
    `ulimit -n ${SANDBOX_BOUNDS.openFilesMax} 2>/dev/null`,
    `ulimit -f ${Math.floor((limits.diskMb * MiB) / FILE_BLOCK_BYTES)} 2>/dev/null`,
  ];
  const { cpuSecondsMax } = limits;
  // Soft before hard: SIGXCPU first, which says what happened, SIGKILL a second later.
  if (cpuSecondsMax !== undefined) lines.push(`ulimit -S -t ${cpuSecondsMax} && ulimit -H -t ${cpuSecondsMax + 1}`);
  return lines;
}

/**
 * Limits that stand in for control groups. The number of processes is set inside, where it counts the processes of
 * the sandbox's own user namespace only; shells disagree about its letter.
 */
export function ladderLines(limits: SandboxLimits): readonly string[] {
  const processes = limits.processesMax + LAUNCHER_PROCESSES;
  return [
    `ulimit -d ${(limits.memoryMb * MiB + RESERVED_BYTES) / KiB} || exit ${LAUNCHER_FAILED}`,
    `ulimit -p ${processes} 2>/dev/null || ulimit -u ${processes} || exit ${LAUNCHER_FAILED}`,
  ];
}

/** Arguments that run a command after some lines of shell. The lines hold numbers of ours only. */
export function shellArguments(lines: readonly string[], command: readonly string[]): readonly string[] {
  return ['/bin/sh', '-c', [...lines, 'exec "$@"'].join('\n'), 'sh', ...command];
}
