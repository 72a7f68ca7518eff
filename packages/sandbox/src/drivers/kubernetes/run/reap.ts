import type { ApiClient } from '../api/api-client.ts';
import { openExec } from '../exec/exec-stream.ts';
import { REAPER_COMMAND } from '../exec/launcher.ts';
import type { KubernetesBounds } from '../settings.ts';

/** Where a tool runs. */
export interface Place {
  readonly client: ApiClient;
  readonly pod: string;
  readonly container: string;
  readonly bounds: KubernetesBounds;
}

/** Usage of a container, from its control group; 0 where the cluster does not show it. */
export interface ContainerUsage {
  readonly cpuUs: number;
  readonly memoryPeakBytes: number;
  readonly oomKills: number;
}

const OUTPUT_CHARACTERS_MAX = 16_384;

/**
 * Ends every process of a container except its first, and reads the container's usage. A program of our own does it, so
 * that it works whatever the tool did to its launcher.
 * @returns undefined when its success is unknown
 */
export async function reap({ client, pod, container, bounds }: Place): Promise<ContainerUsage | undefined> {
  try {
    const exec = await openExec(client, { pod, container, command: REAPER_COMMAND }, bounds);
    const late = setTimeout(exec.cut, bounds.reapTimeoutMs);
    exec.stdin.end();
    exec.stderr.resume();
    let said = '';
    exec.stdout.on('data', (part: Buffer) => {
      if (said.length < OUTPUT_CHARACTERS_MAX) said += part.toString('latin1');
    });
    const end = await exec.ended;
    clearTimeout(late);
    if (!('code' in end) || end.code !== 0) return undefined;
    if (!exec.stdout.closed) await new Promise((resolve) => exec.stdout.once('close', resolve));
    return usageOf(said);
  } catch {
    return undefined;
  }
}

/** Lines `file field value` of version 2, `file value` or `file field value` of version 1. */
export function usageOf(lines: string): ContainerUsage {
  const values = new Map(
    lines.split('\n').map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1)) || 0] as const;
    }),
  );
  const first = (...names: string[]): number =>
    names.map((name) => values.get(name) ?? 0).find((value) => value > 0) ?? 0;
  const nanoseconds = first('cpuacct/cpuacct.usage');
  return {
    cpuUs: first('cpu.stat usage_usec') || Math.round(nanoseconds / 1000),
    memoryPeakBytes: first('memory.peak', 'memory/memory.max_usage_in_bytes'),
    oomKills: first('memory.events oom_kill', 'memory/memory.oom_control oom_kill'),
  };
}
