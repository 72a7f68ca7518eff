import { MiB } from '@sallyport/std/bytes';

/** Settings of the QEMU backend. */
export interface QemuSettings {
  /** Name or absolute path of QEMU. Default `qemu-system-x86_64`, looked up in PATH. */
  readonly program: string;
  /** Path of the guest's kernel; `node scripts/machine/prepare-microvm.ts` makes it and the next. */
  readonly kernel: string;
  /** Path of the guest's first root file system, which holds the agent and all programs. */
  readonly initrd: string;
  /** `kvm` needs hardware virtualisation; `tcg`, the default, emulates the processor anywhere. */
  readonly accelerator: 'tcg' | 'kvm';
  /** Whether jobs run in copies of a machine that has booted once. Default true; without, each job boots. */
  readonly snapshots: boolean;
  /** Until the agent of a machine that boots answers, ms. Default 120 000: emulated, on a busy computer, it may take long. */
  readonly bootTimeoutMs: number;
  /** Whether control groups are used where they are writable. Default true. */
  readonly controlGroups: boolean;
}

export type QemuChoices = Partial<QemuSettings> & Pick<QemuSettings, 'kernel' | 'initrd'>;

export const QEMU_DEFAULTS: Omit<QemuSettings, 'kernel' | 'initrd'> = {
  program: 'qemu-system-x86_64',
  accelerator: 'tcg',
  snapshots: true,
  bootTimeoutMs: 120_000,
  controlGroups: true,
};

/** Settings of the Firecracker backend. */
export interface FirecrackerSettings {
  /** Name or absolute path of Firecracker. Default `firecracker`, looked up in PATH. */
  readonly program: string;
  /** Path of the jailer; used when the layer is root. Absent: Firecracker runs without, under a uid of its own all the same. */
  readonly jailer?: string;
  /** Path of an uncompressed kernel (`vmlinux`). */
  readonly kernel: string;
  /** Path of the guest's first root file system. */
  readonly initrd: string;
  /** A file that the guest sees as a read-only disk, `/dev/vda`. */
  readonly drive?: string;
  readonly snapshots: boolean;
  /** Until the agent of a machine answers, ms. Default 30 000. */
  readonly bootTimeoutMs: number;
  readonly controlGroups: boolean;
}

export type FirecrackerChoices = Partial<FirecrackerSettings> & Pick<FirecrackerSettings, 'kernel' | 'initrd'>;

export const FIRECRACKER_DEFAULTS: Omit<FirecrackerSettings, 'kernel' | 'initrd'> = {
  program: 'firecracker',
  snapshots: true,
  bootTimeoutMs: 30_000,
  controlGroups: true,
};

/** Limits that need no configuration. */
export const MICROVM_BOUNDS = {
  environmentNamesMax: 1000,
  /** Bytes of command and environment together, in the agent's protocol. */
  startBytesMax: MiB,
  /** Until a guest that waits for its job says that the tool runs. */
  startTimeoutMs: 30_000,
  /** Pause between two connection attempts, in ms. */
  retryMs: 10,
  /** Bytes of one line of the agent. */
  agentLineBytesMax: 4096,
  /**
   * Most bytes that the guest may still hold when the tool has ended and nobody reads: its pipes and a device's queue.
   */
  restBytesMax: 8 * MiB,
  /** How long the rest of the output may take after the tool has ended. */
  drainTimeoutMs: 30_000,
  /** Bytes of the machine monitor's own complaints that are kept. */
  complaintBytesMax: 4096,
  /** Memory of the guest's kernel, beside the tool's. */
  guestKernelMb: 64,
  guestMemoryMinMb: 128,
  /** Memory of the machine monitor beside the guest's: translated code, device state, its own heap. */
  monitorMemoryMb: 192,
  /** Most threads of the machine monitor, in a control group. */
  monitorThreadsMax: 128,
  guestProcessorsMax: 8,
  /** Most kinds of machines (memory, processors) with a snapshot; the oldest is dropped. */
  snapshotsMax: 4,
  /** Bytes of an answer of the machine monitor. */
  answerBytesMax: MiB,
  answerTimeoutMs: 30_000,
} as const;
