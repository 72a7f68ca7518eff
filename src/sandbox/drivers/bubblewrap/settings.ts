/** What a person may choose about the driver. */
export interface BubblewrapSettings {
  /** Name or absolute path of bubblewrap. Default `bwrap`, looked up in PATH. */
  readonly program: string;
  /** Whether control groups are used where they are writable. Default true; without them the rlimit ladder holds. */
  readonly controlGroups: boolean;
}

export const BUBBLEWRAP_DEFAULTS: BubblewrapSettings = { program: 'bwrap', controlGroups: true };

/** Bounds that nobody needs to choose. */
export const SANDBOX_BOUNDS = {
  /** Open files of one process inside. */
  openFilesMax: 1024,
  environmentNamesMax: 1000,
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
  /** How long an output pipe may stay silent after the end before it is closed; somebody outside may hold it open. */
  pipeGraceMs: 100,
  /** How long a slow reader of the output is waited for after the end. */
  pipeTimeoutMs: 30_000,
} as const;
