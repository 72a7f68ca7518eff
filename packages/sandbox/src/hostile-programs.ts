import { EXHAUSTING_PROGRAMS } from './hostile/exhaustion.ts';
import { FILE_PROGRAMS } from './hostile/files.ts';
import type { HostileRun } from './hostile/hostile-run.ts';
import { KERNEL_PROGRAMS } from './hostile/kernel.ts';
import { LINGERING_PROGRAMS } from './hostile/lingering.ts';
import { OUTPUT_PROGRAMS } from './hostile/output.ts';
import type { HostileProgram } from './hostile/program.ts';

export { HOSTILE_LIMITS } from './hostile/hostile-run.ts';
export { networkPrograms as hostileNetworkPrograms } from './hostile/network.ts';
export type { HostileProgram, HostileRun };

/** Programs that try to leave, for every driver that runs the host's own sh and perl. */
export const HOSTILE_PROGRAMS: readonly HostileProgram[] = [...KERNEL_PROGRAMS, ...FILE_PROGRAMS];

/** Programs that harm rather than leave, by group, with what must be seen of each. The host's own node is needed too. */
export const HOSTILE_RUNS: Readonly<Record<string, readonly HostileRun[]>> = {
  exhaustion: EXHAUSTING_PROGRAMS,
  lingering: LINGERING_PROGRAMS,
  output: OUTPUT_PROGRAMS,
};
