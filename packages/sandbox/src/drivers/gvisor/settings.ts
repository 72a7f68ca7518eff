/** How gVisor intercepts a tool's system calls. */
export type GvisorPlatform = 'systrap' | 'ptrace' | 'kvm';

/** Settings of the driver. */
export interface GvisorSettings {
  /** Name or absolute path of runsc. Default `runsc`, looked up in PATH. */
  readonly program: string;
  /**
   * Platforms to try; the first that works is used. Default systrap (newer releases), then ptrace (everywhere). KVM is
   * not tried unless named: on machines that only seem to support it, it hangs.
   */
  readonly platforms: readonly GvisorPlatform[];
  /** Absolute paths of the layer's own files, hidden from every sandbox. Default none. */
  readonly closed: readonly string[];
}

export const GVISOR_DEFAULTS: GvisorSettings = { program: 'runsc', platforms: ['systrap', 'ptrace'], closed: [] };

/** Limits that need no configuration. */
export const GVISOR_BOUNDS = {
  /** Memory of gVisor itself, beside the tool's. */
  ownMemoryMb: 40,
  /** Processes and threads of gVisor itself. */
  ownTasks: 64,
  /** Host threads per address space of the tool: one for each gVisor thread that served it. */
  tasksPerAddressSpace: 6,
  /** Processes of the host that are gVisor's own: the caller (twice without root), files, kernel, and the first stub. */
  ownProcesses: 5,
  /** Address spaces counted for one process of a tool: a program that becomes another has two for a moment. */
  addressSpacesPerProcess: 2,
  openFilesMax: 1024,
  /** Sampling interval of processes and processor time, in ms. */
  sampleMs: 50,
  /** Longest trial run, in ms; some platforms hang instead of failing. */
  trialTimeoutMs: 10_000,
  /** Bytes of runsc's log that are read to learn why a start failed. */
  logBytesMax: 65_536,
  /** Longest time of `runsc kill` before the whole sandbox is ended instead, in ms. */
  signalTimeoutMs: 5000,
  goneTimeoutMs: 30_000,
  goneFirstTurns: 20,
  gonePollMs: 1,
} as const;
