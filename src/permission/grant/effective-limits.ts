import type { AgentSandboxContext, ResourceLimits } from '../../../api/schemas/agent-sandbox-context.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ExecutionLimits } from '../../domain/invocation/grant.ts';
import type { Violation } from './violation.ts';

/** The layer's own limits: what holds when nobody says anything, and what nobody exceeds. */
export interface LayerLimits {
  readonly defaults: ExecutionLimits;
  readonly maxima: ExecutionLimits;
}

interface Asked {
  readonly request: number | undefined;
  readonly manifest: number | undefined;
  readonly agent: number | undefined;
}

/**
 * One limit: the request's, else the manifest's, else the layer's default. What the request or the manifest asks for
 * must lie within the agent's and the layer's maximum (E3102); a default that nobody asked for is lowered to them.
 */
export function effectiveLimits(
  manifest: ToolManifest,
  context: AgentSandboxContext | undefined,
  request: ResourceLimits | undefined,
  { defaults, maxima }: LayerLimits,
): { readonly limits: ExecutionLimits; readonly violations: readonly Violation[] } {
  const violations: Violation[] = [];
  const tool = manifest.execution_config;
  const agent = context?.resource_limits;
  const pick = (name: string, unit: string, asked: Asked, fallback: number, most: number): number => {
    const bound = Math.min(asked.agent ?? most, most);
    const wanted = asked.request ?? asked.manifest;
    if (wanted === undefined) return Math.min(fallback, bound);
    if (wanted > bound) violations.push(beyond(name, unit, wanted, bound, asked.request === undefined));
    return Math.min(wanted, bound);
  };
  const milliseconds = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);
  const limits: ExecutionLimits = {
    timeoutMs: pick(
      'timeout_seconds',
      'ms',
      {
        request: milliseconds(request?.timeout_seconds),
        manifest: milliseconds(tool?.default_timeout_seconds),
        agent: milliseconds(agent?.timeout_seconds),
      },
      defaults.timeoutMs,
      maxima.timeoutMs,
    ),
    cpuMillicores: pick(
      'cpu_millicore_limit',
      'millicores',
      {
        request: request?.cpu_millicore_limit,
        manifest: tool?.default_cpu_millicore_limit,
        agent: agent?.cpu_millicore_limit,
      },
      defaults.cpuMillicores,
      maxima.cpuMillicores,
    ),
    memoryMb: pick(
      'memory_mb_limit',
      'MB',
      { request: request?.memory_mb_limit, manifest: tool?.default_memory_mb_limit, agent: agent?.memory_mb_limit },
      defaults.memoryMb,
      maxima.memoryMb,
    ),
    outputBytesMax: Math.min(tool?.output_bytes_max ?? defaults.outputBytesMax, maxima.outputBytesMax),
  };
  const bandwidth = request?.network_bandwidth_mbps;
  const allowed = agent?.network_bandwidth_mbps;
  if (bandwidth !== undefined && allowed !== undefined && bandwidth > allowed)
    violations.push(beyond('network_bandwidth_mbps', 'Mbit/s', bandwidth, allowed, false));
  return { limits, violations };
}

function beyond(name: string, unit: string, wanted: number, bound: number, byTool: boolean): Violation {
  const who = byTool ? 'The tool asks' : 'The request asks';
  return {
    code: 'E3102',
    wanted: `${name}: ${wanted} ${unit}`,
    message: `${who} for ${wanted} ${unit} (${name}); the agent may use ${bound} ${unit}. Lower resource_limits.${name}.`,
  };
}
