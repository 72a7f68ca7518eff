import type { AgentSandboxContext, ResourceLimits } from '../../../api/schemas/agent-sandbox-context.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ExecutionLimits } from '../../domain/invocation/grant.ts';
import type { Violation } from './violation.ts';

/** The layer's own limits: defaults, and maxima that nobody exceeds. */
export interface LayerLimits {
  readonly defaults: ExecutionLimits;
  readonly maxima: ExecutionLimits;
  /** Times of upstreams' tools, where they differ from `defaults`; absent: progress does not extend a run. */
  readonly upstreamTools?: UpstreamToolTimes;
}

/** Running times of upstreams' tools. */
export interface UpstreamToolTimes {
  /** Default timeout. */
  readonly timeoutMs: number;
  /** Longest run while the tool reports progress. A call with its own timeout keeps that. */
  readonly timeoutMsMax: number;
}

type LimitName = keyof ResourceLimits;

interface Said {
  readonly request: ResourceLimits | undefined;
  readonly manifest: ResourceLimits;
  readonly agents: readonly ResourceLimits[];
  readonly violations: Violation[];
}

const UNITS: Readonly<Record<LimitName, string>> = {
  timeout_seconds: 's',
  cpu_millicore_limit: 'millicores',
  memory_mb_limit: 'MB',
  network_bandwidth_mbps: 'Mbit/s',
};

/**
 * Computes each limit: the request's, else the manifest's, else the layer's default. A requested limit (of request or
 * manifest) must be within every context's and the layer's maximum (E3102); a default that nobody asked for is lowered
 * to them. Processes and disk are the layer's alone: neither manifest nor context can set them (BC-1).
 */
export function effectiveLimits(
  manifest: ToolManifest,
  contexts: readonly AgentSandboxContext[],
  request: ResourceLimits | undefined,
  layer: LayerLimits,
): { readonly limits: ExecutionLimits; readonly violations: readonly Violation[] } {
  const { maxima } = layer;
  const defaults = defaultsFor(manifest, layer);
  const violations: Violation[] = [];
  const said: Said = { request, manifest: limitsOf(manifest), agents: contexts.flatMap(limitsIn), violations };
  const bandwidth = pick(said, 'network_bandwidth_mbps', defaults.networkBandwidthMbps, maxima.networkBandwidthMbps);
  const processesMax = lowest(defaults.processesMax, maxima.processesMax);
  const diskMb = lowest(defaults.diskMb, maxima.diskMb);
  const timeoutMs = milliseconds(pick(said, 'timeout_seconds', defaults.timeoutMs / 1000, maxima.timeoutMs / 1000));
  const timeoutMsMax = request?.timeout_seconds === undefined ? longest(said, defaults, maxima) : 0;
  const tokensMax = manifest.execution_config?.output_tokens_max ?? defaults.outputTokensMax ?? 0;
  const limits: ExecutionLimits = {
    timeoutMs,
    ...(timeoutMsMax > timeoutMs ? { timeoutMsMax } : {}),
    cpuMillicores: must(pick(said, 'cpu_millicore_limit', defaults.cpuMillicores, maxima.cpuMillicores)),
    memoryMb: must(pick(said, 'memory_mb_limit', defaults.memoryMb, maxima.memoryMb)),
    outputBytesMax: Math.min(
      manifest.execution_config?.output_bytes_max ?? defaults.outputBytesMax,
      maxima.outputBytesMax,
    ),
    ...(tokensMax === 0 ? {} : { outputTokensMax: tokensMax }),
    ...(bandwidth === undefined ? {} : { networkBandwidthMbps: bandwidth }),
    ...(processesMax === undefined ? {} : { processesMax }),
    ...(diskMb === undefined ? {} : { diskMb }),
  };
  return { limits, violations };
}

/** Longest time that progress may keep a run alive, in ms; 0 when it does not. */
function longest({ agents }: Said, { timeoutMsMax }: ExecutionLimits, maxima: ExecutionLimits): number {
  if (timeoutMsMax === undefined) return 0;
  const bounds = agents.flatMap(({ timeout_seconds: seconds }) => (seconds === undefined ? [] : [seconds * 1000]));
  return Math.min(timeoutMsMax, maxima.timeoutMs, ...bounds);
}

/** Default limits of a tool. */
export function defaultsFor(
  { executor }: Pick<ToolManifest, 'executor'>,
  { defaults, upstreamTools }: LayerLimits,
): ExecutionLimits {
  return executor.kind === 'mcp' ? { ...defaults, ...upstreamTools } : defaults;
}

const limitsIn = ({ resource_limits: limits }: AgentSandboxContext): readonly ResourceLimits[] =>
  limits === undefined ? [] : [limits];

function limitsOf({ execution_config: config = {} }: ToolManifest): ResourceLimits {
  const {
    default_timeout_seconds: seconds,
    default_cpu_millicore_limit: cpu,
    default_memory_mb_limit: memory,
  } = config;
  return {
    ...(seconds === undefined ? {} : { timeout_seconds: seconds }),
    ...(cpu === undefined ? {} : { cpu_millicore_limit: cpu }),
    ...(memory === undefined ? {} : { memory_mb_limit: memory }),
  };
}

/** @returns undefined only when nobody sets the limit */
function pick(said: Said, name: LimitName, fallback: number | undefined, most: number | undefined): number | undefined {
  const { request, manifest, agents, violations } = said;
  let bound = most;
  for (const agent of agents) bound = lowest(bound, agent[name]);
  const wanted = request?.[name] ?? manifest[name];
  if (wanted === undefined) return lowest(fallback, bound);
  if (bound !== undefined && wanted > bound)
    violations.push(beyond(name, wanted, bound, request?.[name] === undefined));
  return lowest(wanted, bound);
}

function lowest(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}

/** Rounded to hide errors of floating point: 1.005 s are 1005 ms. */
const milliseconds = (seconds: number | undefined): number => Number((must(seconds) * 1000).toFixed(6));

/** Limits that the layer always has a default for. */
const must = (limit: number | undefined): number => limit ?? 0;

function beyond(name: LimitName, wanted: number, bound: number, byTool: boolean): Violation {
  const unit = UNITS[name];
  const advice = byTool
    ? 'Have its manifest ask for less, or the agent be given more'
    : `Lower resource_limits.${name}`;
  return {
    code: 'E3102',
    wanted: `${name}: ${wanted} ${unit}`,
    allowed: [`${bound} ${unit}`],
    limit: name,
    message: `${byTool ? 'The tool' : 'The request'} asks for ${wanted} ${unit} (${name}); the agent may use ${bound} ${unit}. ${advice}.`,
  };
}
