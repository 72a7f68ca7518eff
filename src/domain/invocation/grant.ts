import type { FilesystemPermission, NetworkPermission } from '../../../api/schemas/tool-manifest.ts';

/** The bounds of one execution. */
export interface ExecutionLimits {
  readonly timeoutMs: number;
  readonly cpuMillicores: number;
  readonly memoryMb: number;
  readonly outputBytesMax: number;
}

/** What this call may touch: token ∩ manifest ∩ agent sandbox context (PRM-03). Paths are absolute and normal. */
export interface Grant {
  readonly filesystem: readonly FilesystemPermission[];
  readonly network: readonly NetworkPermission[];
  /** Names of secrets, never their values. */
  readonly credentials: readonly string[];
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
