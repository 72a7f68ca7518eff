import type { EffectiveManifest } from '../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ExecutionLimits } from '../invocation/grant.ts';
import { sideEffectOf } from './tool-version.ts';

/** How a failed call is retried, when that is safe: number of attempts, and ms between them. */
export const RETRY_DEFAULTS = { max_attempts: 3, base_delay_ms: 1000, max_delay_ms: 60_000 } as const;

/**
 * The members of a manifest that have a default, with their effective values.
 * @param defaults limits of a call whose manifest names none (REG-01)
 */
export function effectiveManifest(manifest: ToolManifest, defaults: ExecutionLimits): EffectiveManifest {
  const { category, permissions, execution_config: config, idempotent } = manifest;
  const sideEffects = sideEffectOf(manifest);
  return {
    ...(category === undefined ? {} : { category }),
    tags: manifest.tags ?? [],
    permissions: {
      filesystem: permissions?.filesystem ?? [],
      network: permissions?.network ?? [],
      credentials: permissions?.credentials ?? [],
    },
    execution_config: {
      default_timeout_seconds: defaults.timeoutMs / 1000,
      default_cpu_millicore_limit: defaults.cpuMillicores,
      default_memory_mb_limit: defaults.memoryMb,
      output_bytes_max: defaults.outputBytesMax,
      requires_approval: false,
      ...config,
      retry_policy: { ...RETRY_DEFAULTS, ...config?.retry_policy },
    },
    deterministic: manifest.deterministic ?? false,
    idempotent: idempotent ?? (sideEffects === 'pure' || sideEffects === 'idempotent'),
    side_effect_policy: sideEffects,
    requires_confirmation: manifest.requires_confirmation ?? false,
    requires: manifest.requires ?? [],
    prefers: manifest.prefers ?? [],
  };
}
