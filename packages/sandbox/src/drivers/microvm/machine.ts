import type { Duplex } from 'node:stream';
import type { DriverProbe, SandboxLimits } from '../../driver.port.ts';
import type { EgressRun } from '../../egress-gate.ts';
import type { GroupUsage } from '../../linux/limits/control-group.ts';
import { MICROVM_BOUNDS } from './settings.ts';

/** The four channels between the driver and the agent of a guest. */
export interface GuestChannels {
  readonly control: Duplex;
  readonly stdin: Duplex;
  readonly stdout: Duplex;
  readonly stderr: Duplex;
}

export const CHANNEL_NAMES = ['control', 'stdin', 'stdout', 'stderr'] as const;

/** How a machine ended. */
export interface MachineEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Usage of the machine monitor, guest included; undefined without control groups. */
  readonly usage: GroupUsage | undefined;
  /** The machine monitor's error output. */
  readonly complaint: string;
}

/** A virtual machine for one job. */
export interface GuestMachine {
  readonly channels: GuestChannels;
  /** Resolves when no process of it is left. Never rejects. */
  readonly gone: Promise<MachineEnd>;
  /** Ends it at once. Idempotent. */
  kill(): void;
}

/** What a machine is made for. */
export interface MachineOrder {
  readonly limits: SandboxLimits;
  /** The way out of the job, when it has one. */
  readonly way: EgressRun | undefined;
}

/** A program that runs virtual machines. */
export interface MachineBackend {
  readonly name: string;
  /** True when the guest can reach the socket of an egress run. */
  readonly egress: boolean;
  /** Looked up once. Never throws. */
  probe(): Promise<DriverProbe>;
  /** A machine whose agent waits for its job. @throws Error when none can be made; nothing of it is left then */
  open(order: MachineOrder): Promise<GuestMachine>;
}

/** Kinds of machines; one snapshot serves all jobs of a kind. */
export interface MachineSize {
  readonly memoryMb: number;
  readonly processors: number;
}

/** The smallest machine that fits a tool's limits. */
export function machineSize({ memoryMb, cpuMillicores }: SandboxLimits): MachineSize {
  const { guestMemoryMinMb, guestKernelMb, guestProcessorsMax } = MICROVM_BOUNDS;
  let forTool = guestMemoryMinMb;
  while (forTool < memoryMb) forTool *= 2;
  const processors = Math.min(guestProcessorsMax, Math.max(1, Math.ceil(cpuMillicores / 1000)));
  return { memoryMb: forTool + guestKernelMb, processors };
}
