import type { SandboxExit, SandboxLimits } from '../../../driver.port.ts';
import type { ControlGroup } from '../../../linux/limits/control-group.ts';
import { GVISOR_BOUNDS } from '../settings.ts';

/** Watches limits that the kernel does not enforce here: too many processes, and spent processor time. */
export interface GroupWatch {
  readonly violation: SandboxExit['violation'];
  stop(): void;
}

/**
 * gVisor enforces neither a tool's number of processes nor its processor time, so both are sampled from outside: each
 * address space of the tool is a host process.
 */
export function watchGroup(group: ControlGroup, limits: SandboxLimits, end: () => void): GroupWatch {
  const watch: { violation: SandboxExit['violation']; stop(): void } = {
    violation: undefined,
    stop: () => clearInterval(timer),
  };
  const spacesMax = addressSpacesMax(limits);
  const cpuMsMax = (limits.cpuSecondsMax ?? Number.POSITIVE_INFINITY) * 1000;
  const sample = (): void => {
    if (group.pids().length - GVISOR_BOUNDS.ownProcesses > spacesMax) watch.violation = 'processes';
    else if (group.usage().cpuMs >= cpuMsMax) watch.violation = 'cpu';
    if (watch.violation === undefined) return;
    watch.stop();
    end();
  };
  const timer = setInterval(sample, GVISOR_BOUNDS.sampleMs);
  return watch;
}

/** Limits of the control group around gVisor and the tool together. */
export function limitsAround(limits: SandboxLimits): SandboxLimits {
  return {
    ...limits,
    memoryMb: limits.memoryMb + GVISOR_BOUNDS.ownMemoryMb,
    processesMax: GVISOR_BOUNDS.ownTasks + GVISOR_BOUNDS.tasksPerAddressSpace * addressSpacesMax(limits),
  };
}

function addressSpacesMax({ processesMax }: SandboxLimits): number {
  return GVISOR_BOUNDS.addressSpacesPerProcess * processesMax;
}
