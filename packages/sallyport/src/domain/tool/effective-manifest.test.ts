import { expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { defaultsOf } from '../settings/setting.ts';
import { effectiveManifest } from './effective-manifest.ts';
import { EXECUTION_SETTINGS } from './execution-settings.ts';

const BARE: ToolManifest = {
  tool_id: 'a',
  tool_name: 'A',
  version: '1.0.0',
  description: '',
  parameters_schema: { type: 'object' },
  executor: { kind: 'native' },
};

test('REG-01.5 a manifest that says nothing counts as the contract says', () => {
  expect(effectiveManifest(BARE, defaultsOf(EXECUTION_SETTINGS))).toEqual({
    tags: [],
    permissions: { filesystem: [], network: [], credentials: [] },
    execution_config: {
      default_timeout_seconds: 30,
      default_cpu_millicore_limit: 500,
      default_memory_mb_limit: 1024,
      output_bytes_max: 2 ** 20,
      requires_approval: false,
      retry_policy: { max_attempts: 3, base_delay_ms: 1000, max_delay_ms: 60_000 },
    },
    deterministic: false,
    idempotent: false,
    side_effect_policy: 'irreversible',
    requires_confirmation: false,
    requires: [],
    prefers: [],
  });
});

test('REG-01 what a manifest says wins over defaults, member by member', () => {
  const effective = effectiveManifest(
    {
      ...BARE,
      side_effect_policy: 'pure',
      execution_config: { default_timeout_seconds: 5, retry_policy: { max_attempts: 1 } },
    },
    { timeoutMs: 7000, cpuMillicores: 100, memoryMb: 64, outputBytesMax: 1 },
  );
  expect(effective).toMatchObject({
    idempotent: true,
    execution_config: {
      default_timeout_seconds: 5,
      default_cpu_millicore_limit: 100,
      default_memory_mb_limit: 64,
      retry_policy: { max_attempts: 1, base_delay_ms: 1000 },
    },
  });
});
