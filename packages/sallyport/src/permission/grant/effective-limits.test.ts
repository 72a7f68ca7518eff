import { describe, expect, test } from 'vitest';
import type { ResourceLimits } from '../../../api/schemas/agent-sandbox-context.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { effectiveLimits, type LayerLimits } from './effective-limits.ts';
import { manifestOf } from './grant.fixture.ts';

const layer: LayerLimits = {
  defaults: { timeoutMs: 30_000, cpuMillicores: 500, memoryMb: 512, outputBytesMax: 1000 },
  maxima: { timeoutMs: 600_000, cpuMillicores: 4000, memoryMb: 4096, outputBytesMax: 5000 },
};
const upstream: LayerLimits = { ...layer, upstreamTools: { timeoutMs: 40_000, timeoutMsMax: 90_000 } };
const PLAIN = { timeoutMs: 30_000, cpuMillicores: 500, memoryMb: 512, outputBytesMax: 1000 };

interface Said {
  readonly config?: NonNullable<ToolManifest['execution_config']>;
  readonly agents?: readonly ResourceLimits[];
  readonly request?: ResourceLimits;
  readonly of?: LayerLimits;
  readonly kind?: 'mcp' | 'native';
}
const computed = ({ config, agents = [], request, of = layer, kind = 'native' }: Said) =>
  effectiveLimits(
    { ...manifestOf({}, config), executor: { kind } },
    agents.map((each) => ({ resource_limits: each })),
    request,
    of,
  );
const limits = (said: Said) => computed(said).limits;

describe('limits', () => {
  test('SBX-01 that nobody states are the defaults of the layer, and no others are there', () => {
    expect(limits({})).toEqual(PLAIN);
    expect(computed({ agents: [{}] })).toEqual({ limits: PLAIN, violations: [] });
  });

  test('SBX-01 of processes, disk and bandwidth are those of the layer, the lower of default and maximum', () => {
    const of: LayerLimits = {
      defaults: { ...layer.defaults, processesMax: 64, diskMb: 200, networkBandwidthMbps: 7 },
      maxima: { ...layer.maxima, processesMax: 100, diskMb: 100 },
    };
    expect(limits({ of })).toEqual({ ...PLAIN, processesMax: 64, diskMb: 100, networkBandwidthMbps: 7 });
    const maxima = { ...layer.maxima, processesMax: 9, diskMb: 8, networkBandwidthMbps: 6 };
    expect(limits({ of: { ...layer, maxima } })).toEqual({
      ...PLAIN,
      processesMax: 9,
      diskMb: 8,
      networkBandwidthMbps: 6,
    });
    expect(limits({ of, agents: [{ network_bandwidth_mbps: 3 }] })).toMatchObject({ networkBandwidthMbps: 3 });
    expect(limits({ request: { network_bandwidth_mbps: 3 } })).toMatchObject({ networkBandwidthMbps: 3 });
  });

  test('SBX-01 of output are those of the tool, else of the layer; bytes within its maximum', () => {
    expect(limits({ config: { output_bytes_max: 5000 } })).toEqual({ ...PLAIN, outputBytesMax: 5000 });
    expect(limits({ config: { output_bytes_max: 5001 } })).toEqual({ ...PLAIN, outputBytesMax: 5000 });
    expect(limits({ config: { output_tokens_max: 9 } })).toEqual({ ...PLAIN, outputTokensMax: 9 });
    const of = { ...layer, defaults: { ...layer.defaults, outputTokensMax: 70 } };
    expect(limits({ of })).toEqual({ ...PLAIN, outputTokensMax: 70 });
    expect(limits({ of, config: { output_tokens_max: 0 } })).toEqual(PLAIN);
  });

  test('SBX-01 in seconds become milliseconds without errors of floating point', () => {
    expect(limits({ request: { timeout_seconds: 1.005 } }).timeoutMs).toBe(1005);
    expect(limits({ config: { default_timeout_seconds: 0.0015 } }).timeoutMs).toBe(1.5);
  });

  test('SBX-01 of an agent lower every default, and the lowest agent counts', () => {
    const agent = { timeout_seconds: 1, cpu_millicore_limit: 2, memory_mb_limit: 3 };
    expect(limits({ agents: [agent, { memory_mb_limit: 9 }] })).toEqual({
      timeoutMs: 1000,
      cpuMillicores: 2,
      memoryMb: 3,
      outputBytesMax: 1000,
    });
    expect(limits({ agents: [{ memory_mb_limit: 9000 }] }).memoryMb).toBe(512);
  });

  test('SBX-01 of a tool are its own, of a call those of the call', () => {
    const config = { default_timeout_seconds: 5, default_cpu_millicore_limit: 6, default_memory_mb_limit: 7 };
    const own = { timeoutMs: 5000, cpuMillicores: 6, memoryMb: 7, outputBytesMax: 1000 };
    expect(limits({ config })).toEqual(own);
    expect(limits({ config: { default_memory_mb_limit: 7 } })).toEqual({ ...PLAIN, memoryMb: 7 });
    const request = { timeout_seconds: 1, cpu_millicore_limit: 2 };
    expect(limits({ config, request })).toEqual({ ...own, timeoutMs: 1000, cpuMillicores: 2 });
  });
});

test('SBX-01.2 a limit beyond the bound is a violation of who asks for it, and the limit is the bound', () => {
  const agents = [{ memory_mb_limit: 100 }];
  const about = { code: 'E3102', allowed: ['100 MB'], limit: 'memory_mb_limit', wanted: 'memory_mb_limit: 101 MB' };
  const says = (who: string, advice: string) =>
    `${who} asks for 101 MB (memory_mb_limit); the agent may use 100 MB. ${advice}.`;
  expect(computed({ agents, request: { memory_mb_limit: 101 } })).toEqual({
    limits: { ...PLAIN, memoryMb: 100 },
    violations: [{ ...about, message: says('The request', 'Lower resource_limits.memory_mb_limit') }],
  });
  const byTool = computed({ agents, config: { default_memory_mb_limit: 101 } });
  const advice = 'Have its manifest ask for less, or the agent be given more';
  expect(byTool.violations).toEqual([{ ...about, message: says('The tool', advice) }]);
  expect(computed({ agents, request: { memory_mb_limit: 100 } }).violations).toEqual([]);
});

describe('EXE-12 a tool of an upstream', () => {
  const times = (said: Said) => {
    const { timeoutMs, timeoutMsMax } = limits({ of: upstream, kind: 'mcp', ...said });
    return [timeoutMs, timeoutMsMax];
  };

  test('EXE-12 has times of its own, which progress lengthens within every bound', () => {
    expect(times({})).toEqual([40_000, 90_000]);
    expect(times({ agents: [{ timeout_seconds: 60 }, { timeout_seconds: 70 }, {}] })).toEqual([40_000, 60_000]);
    expect(times({ of: { ...upstream, maxima: { ...layer.maxima, timeoutMs: 50_000 } } })).toEqual([40_000, 50_000]);
    expect(times({ agents: [{ timeout_seconds: 40 }] })).toEqual([40_000, undefined]);
    expect(times({ agents: [{ timeout_seconds: 41 }] })).toEqual([40_000, 41_000]);
  });

  test('EXE-12 keeps the time that the call states, and tools of other kinds have none of this', () => {
    expect(times({ request: { timeout_seconds: 5 } })).toEqual([5_000, undefined]);
    expect(times({ request: { memory_mb_limit: 5 } })).toEqual([40_000, 90_000]);
    expect(times({ kind: 'native' })).toEqual([30_000, undefined]);
    expect(times({ of: layer })).toEqual([30_000, undefined]);
  });
});
