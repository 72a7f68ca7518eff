import { KiB, MiB } from '@sallyport/std/bytes';
import type { SandboxLimits } from '../../../driver.port.ts';
import { LAUNCHER_PROCESSES } from '../../../linux/limits/control-group.ts';
import { SANDBOX_BOUNDS } from '../settings.ts';
import { LAUNCHER_FAILED } from './shell-text.ts';

/** Unit of `ulimit -f`. */
const FILE_BLOCK_BYTES = 512;
/**
 * Memory that a process may reserve beyond its limit. Node 24 reserves 560 MiB of writable addresses at its start and
 * uses little of it, so that a tighter RLIMIT_DATA stops it at once; memory in use is limited by sampling.
 */
const RESERVED_BYTES = 1024 * MiB;

/** Limits per process, set before bubblewrap starts. A lower limit of the layer stays. */
export function processLimitLines(limits: SandboxLimits): readonly string[] {
  const lines = [
    'ulimit -c 0',
    `ulimit -n ${SANDBOX_BOUNDS.openFilesMax} 2>/dev/null`,
    `ulimit -f ${Math.floor((limits.diskMb * MiB) / FILE_BLOCK_BYTES)} 2>/dev/null`,
  ];
  const { cpuSecondsMax } = limits;
  // Soft before hard: SIGXCPU first, which identifies the cause, SIGKILL a second later.
  if (cpuSecondsMax !== undefined) lines.push(`ulimit -S -t ${cpuSecondsMax} && ulimit -H -t ${cpuSecondsMax + 1}`);
  return lines;
}

/**
 * Limits that replace control groups. The number of processes is set inside, where it counts only the processes of the
 * sandbox's own user namespace; shells disagree about its letter.
 */
export function ladderLines(limits: SandboxLimits): readonly string[] {
  const processes = limits.processesMax + LAUNCHER_PROCESSES;
  return [
    `ulimit -d ${(limits.memoryMb * MiB + RESERVED_BYTES) / KiB} || exit ${LAUNCHER_FAILED}`,
    `ulimit -p ${processes} 2>/dev/null || ulimit -u ${processes} || exit ${LAUNCHER_FAILED}`,
  ];
}

/** Arguments that run a command after some lines of shell. The lines contain only our own numbers. */
export function shellArguments(lines: readonly string[], command: readonly string[]): readonly string[] {
  return ['/bin/sh', '-c', [...lines, 'exec "$@"'].join('\n'), 'sh', ...command];
}
