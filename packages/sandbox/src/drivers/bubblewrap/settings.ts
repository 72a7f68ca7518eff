/** What a person may choose about the driver. */
export interface BubblewrapSettings {
  /** Name or absolute path of bubblewrap. Default `bwrap`, looked up in PATH. */
  readonly program: string;
  /** Whether control groups are used where they are writable. Default true; without them the rlimit ladder holds. */
  readonly controlGroups: boolean;
  /**
   * Launchers that are kept ready for each way in which sandboxes are started here, so that a cold start need not make one.
   * Default 0. Each is an idle shell in its control groups; with any, the driver has to be closed.
   */
  readonly launchersReady: number;
  /** Absolute paths that are the layer's own and that no sandbox sees. Default none. */
  readonly closed: readonly string[];
}

export const BUBBLEWRAP_DEFAULTS: BubblewrapSettings = {
  program: 'bwrap',
  controlGroups: true,
  launchersReady: 0,
  closed: [],
};

/** Bounds that nobody needs to choose. */
export const SANDBOX_BOUNDS = {
  /** Open files of one process inside. */
  openFilesMax: 1024,
  /** Signals that wait for processes inside, each timer counting as one. */
  signalsPendingMax: 1024,
  /** Until bubblewrap says that its namespaces stand. */
  startTimeoutMs: 10_000,
  /** Bytes of bubblewrap's own status messages; it writes a few hundred. */
  statusBytesMax: 16_384,
  /** Bytes of stderr kept as the cause of a failed start. */
  startErrorBytesMax: 4096,
  /** After the end: how often it is looked whether every process is gone: at first each turn, then by time. */
  gonePollTurns: 20,
  gonePollMs: 1,
  goneTimeoutMs: 30_000,
  /** How long bubblewrap's last words are waited for after the end. */
  pipeGraceMs: 100,
  /** After a start: when the stock of launchers is filled again, and how soon it is looked again on a busy machine. */
  refillDelayMs: 20,
  refillRetryMs: 50,
  /** Launchers that nobody asked for in this time are ended. */
  launcherIdleMs: 600_000,
  /** Until a waiting runtime says that it waits. */
  standTimeoutMs: 10_000,
  /** Bytes that a waiting runtime says of itself; it says three. */
  reportBytesMax: 64,
  /** Processes and threads without which Node does not start. */
  nodeProcessesMin: 16,
} as const;
