import type { EffectiveManifest } from '../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { defaultsOf } from '../settings/setting.ts';
import { EXECUTION_SETTINGS } from './execution-settings.ts';
import { sideEffectOf } from './tool-version.ts';

/** Limits of a call whose manifest names none (REG-01); the layer's settings may change them. */
export interface ExecutionDefaults {
  readonly timeoutMs: number;
  readonly cpuMillicores: number;
  readonly memoryMb: number;
  readonly outputBytesMax?: number;
}

const { timeoutMs, cpuMillicores, memoryMb } = defaultsOf(EXECUTION_SETTINGS);

/** The defaults of the manifest's contract: 30 s, half a core, 1 GB. */
export const EXECUTION_DEFAULTS: ExecutionDefaults = { timeoutMs, cpuMillicores, memoryMb };

/** How a failed call is retried, when that is safe: number of attempts, and ms between them. */
export const RETRY_DEFAULTS = { max_attempts: 3, base_delay_ms: 1000, max_delay_ms: 60_000 } as const;

/** The members of a manifest that have a default, with their effective values. */
export function effectiveManifest(
  manifest: ToolManifest,
  defaults: ExecutionDefaults = EXECUTION_DEFAULTS,
): EffectiveManifest {
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
      ...(defaults.outputBytesMax === undefined ? {} : { output_bytes_max: defaults.outputBytesMax }),
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
