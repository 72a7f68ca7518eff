/** Settings of the driver. */
export interface BubblewrapSettings {
  /** Name or absolute path of bubblewrap. Default `bwrap`, looked up in PATH. */
  readonly program: string;
  /** Use control groups where they are writable. Default true; otherwise the rlimit ladder is used. */
  readonly controlGroups: boolean;
  /**
   * Launchers kept ready for each kind of start, so that a cold start need not make one. Default 0. Each is an idle
   * shell in its control groups; with any, the driver must be closed.
   */
  readonly launchersReady: number;
  /** Absolute paths of the layer's own files, hidden from every sandbox. Default none. */
  readonly closed: readonly string[];
}

export const BUBBLEWRAP_DEFAULTS: BubblewrapSettings = {
  program: 'bwrap',
  controlGroups: true,
  launchersReady: 0,
  closed: [],
};

/** Limits that need no configuration. */
export const SANDBOX_BOUNDS = {
  /** Most open files of one process inside. */
  openFilesMax: 1024,
  /** Most pending signals for processes inside; each timer counts as one. */
  signalsPendingMax: 1024,
  /** Longest time until bubblewrap reports its namespaces, in ms. */
  startTimeoutMs: 10_000,
  /** Bytes of bubblewrap's own status messages; it writes a few hundred. */
  statusBytesMax: 16_384,
  /** Bytes of stderr kept as the cause of a failed start. */
  startErrorBytesMax: 4096,
  /** After the end: how often to check that every process is gone: at first each turn, then by time. */
  gonePollTurns: 20,
  gonePollMs: 1,
  goneTimeoutMs: 30_000,
  /** Longest wait for bubblewrap's last output after the end, in ms. */
  pipeGraceMs: 100,
  /**
   * After a start: delay before the stock of launchers is refilled, and before the next check on a busy machine, in ms.
   */
  refillDelayMs: 20,
  refillRetryMs: 50,
  /** Unused launchers are ended after this time, in ms. */
  launcherIdleMs: 600_000,
  /** Longest time until a waiting runtime reports that it waits, in ms. */
  standTimeoutMs: 10_000,
  /** Most bytes of a waiting runtime's report; it sends three. */
  reportBytesMax: 64,
  /** Least number of processes and threads with which Node starts. */
  nodeProcessesMin: 16,
} as const;
