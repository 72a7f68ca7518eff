import { resolve } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { AgentSandboxContext } from '../../../../api/schemas/agent-sandbox-context.ts';
import { valuesOf } from '../../../domain/settings/setting.ts';
import { EXECUTION_MAXIMA, EXECUTION_SETTINGS, UPSTREAM_TOOL_TIMES } from '../../../domain/tool/execution-settings.ts';
import type { LayerLimits } from '../../../permission/compute-grant.ts';
import type { Settings } from '../../settings.ts';

/** Largest result of any tool, whatever its manifest says. */
const OUTPUT_BYTES_CEILING = 64 * MiB;

/**
 * The sandbox context of every agent of this layer (BC-1).
 * @throws E3801 for a mount that is not PATH:ro or PATH:rw, with a path that begins with / or .
 */
export function agentContextOf(settings: Settings): AgentSandboxContext {
  return {
    resource_limits: {
      cpu_millicore_limit: settings['agent.cpu_millicores'],
      memory_mb_limit: settings['agent.memory_mb'],
      timeout_seconds: settings['calls.timeout_seconds_max'],
      ...bandwidthOf(settings),
    },
    network_policy: { allowed_hosts: [...settings['agent.allowed_hosts']], allowed_ports: [0] },
    filesystem_policy: { mounts: settings['agent.mounts'].flatMap(mountsOf) },
  };
}

/** 0 means unlimited. */
function bandwidthOf(settings: Settings): { network_bandwidth_mbps?: number } {
  const mbps = settings['agent.network_bandwidth_mbps'];
  return mbps === 0 ? {} : { network_bandwidth_mbps: mbps };
}

/** Limits of a call that names none, and limits that no call exceeds. */
export function layerLimitsOf(settings: Settings): LayerLimits {
  return {
    defaults: valuesOf(EXECUTION_SETTINGS, settings),
    maxima: { ...valuesOf(EXECUTION_MAXIMA, settings), outputBytesMax: OUTPUT_BYTES_CEILING },
    upstreamTools: valuesOf(UPSTREAM_TOOL_TIMES, settings),
  };
}

/** A layer that was started in `/`, as services are, has no working folder of its own, so `.` allows nothing there. */
function mountsOf(text: string): { path: string; mode: 'ro' | 'rw' }[] {
  const { path, mode } = /^(?<path>\/.*|\.(?:\/.*)?):(?<mode>ro|rw)$/.exec(text)?.groups ?? {};
  if (path === undefined) {
    throw new ToolLayerError(
      'E3801',
      `agent.mounts holds ${JSON.stringify(text)}; write an absolute path, or one that begins with ".", with :ro or :rw.`,
    );
  }
  const absolute = resolve(path);
  return absolute === '/' && path !== '/' ? [] : [{ path: absolute, mode: mode === 'rw' ? 'rw' : 'ro' }];
}
