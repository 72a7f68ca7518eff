/** How gVisor gets hold of a tool's system calls. */
export type GvisorPlatform = 'systrap' | 'ptrace' | 'kvm';

/** What a person may choose about the driver. */
export interface GvisorSettings {
  /** Name or absolute path of runsc. Default `runsc`, looked up in PATH. */
  readonly program: string;
  /**
   * Platforms that are tried, the first that works is used. Default systrap (newer releases), then ptrace (everywhere). KVM
   * is not tried unless it is named: on machines that only seem to have it, it hangs.
   */
  readonly platforms: readonly GvisorPlatform[];
  /** Absolute paths that are the layer's own and that no sandbox sees. Default none. */
  readonly closed: readonly string[];
}

export const GVISOR_DEFAULTS: GvisorSettings = { program: 'runsc', platforms: ['systrap', 'ptrace'], closed: [] };

/** Bounds that nobody needs to choose. */
export const GVISOR_BOUNDS = {
  /** Memory of gVisor itself, beside what the tool may have. */
  ownMemoryMb: 40,
  /** Processes and threads of gVisor itself. */
  ownTasks: 64,
  /** Threads of the host for each address space of the tool: one for each thread of gVisor that served it. */
  tasksPerAddressSpace: 6,
  /** Processes of the host that are gVisor's own: the caller (twice without root), files, kernel, and the first stub. */
  ownProcesses: 5,
  /** Address spaces that are counted for one process of a tool: a program that becomes another holds two for a moment. */
  addressSpacesPerProcess: 2,
  openFilesMax: 1024,
  /** How often processes and processor time are looked at. */
  sampleMs: 50,
  /** A trial run; some platforms hang instead of failing. */
  trialTimeoutMs: 10_000,
  /** Bytes of runsc's log that are read to learn why a start failed. */
  logBytesMax: 65_536,
  /** How long `runsc kill` may take before the whole sandbox is ended instead. */
  signalTimeoutMs: 5000,
  goneTimeoutMs: 30_000,
  goneFirstTurns: 20,
  gonePollMs: 1,
} as const;
