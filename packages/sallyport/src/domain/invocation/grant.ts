import type { FilesystemPermission, NetworkPermission } from '../../../api/schemas/tool-manifest.ts';

/** The limits of one execution. */
export interface ExecutionLimits {
  readonly timeoutMs: number;
  /**
   * When present, `timeoutMs` is how long a run may last without a sign of life (its progress, or a person whom it
   * asks), and this is its longest total time.
   */
  readonly timeoutMsMax?: number;
  readonly cpuMillicores: number;
  readonly memoryMb: number;
  readonly outputBytesMax: number;
  /** Tokens of a result, as an estimate; unlimited when absent. */
  readonly outputTokensMax?: number;
  /** Megabits a second, both directions together; unlimited when absent. */
  readonly networkBandwidthMbps?: number;
  /** Processes and threads at once; the executor's own limit when absent. */
  readonly processesMax?: number;
  /** Scratch space, and the largest file that may be written; the executor's own limit when absent. */
  readonly diskMb?: number;
}

/** What this call may touch: token ∩ manifest ∩ agent sandbox context (PRM-03). Paths are absolute and normal. */
export interface Grant {
  readonly filesystem: readonly FilesystemPermission[];
  readonly network: readonly NetworkPermission[];
  /** Names of secrets, never their values. */
  readonly credentials: readonly string[];
  /**
   * Paths of `filesystem` that resolved elsewhere through links when they were granted, with their targets; absent when
   * there were none. Users of a path check that it still resolves to that target: a link may have been put in its place
   * since.
   */
  readonly links?: ReadonlyMap<string, string>;
  readonly limits: ExecutionLimits;
}

/** The grant as short strings, for audit events (001 §8.1 `capabilities`). */
export function capabilitiesOf(grant: Grant): string[] {
  return [
    ...grant.filesystem.map(({ path, mode }) => `filesystem:${mode}:${path}`),
    ...grant.network.map(({ host, port }) => `network:${host}:${port}`),
    ...grant.credentials.map((name) => `credential:${name}`),
  ];
}
