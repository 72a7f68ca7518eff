import { availableParallelism, loadavg } from 'node:os';
import type { MachineLoad } from './figure.ts';

/** The machine as it is now; read before a run, or the run itself would be in it. */
export function machineLoad(): MachineLoad {
  return { average_1m: Number((loadavg()[0] ?? 0).toFixed(2)), cpus: availableParallelism() };
}
