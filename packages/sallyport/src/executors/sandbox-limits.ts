import type { SandboxLimits } from '@sallyport/sandbox';
import type { ExecutorCall } from './executor.port.ts';

/**
 * The limits of a program's sandbox: what the call was granted, and its priority.
 * @param bounds for what the grant leaves open
 */
export function sandboxLimits(
  { grant, priority }: Pick<ExecutorCall, 'grant' | 'priority'>,
  bounds: Pick<SandboxLimits, 'processesMax' | 'diskMb'>,
): SandboxLimits {
  const { timeoutMs, cpuMillicores, memoryMb, processesMax, diskMb, networkBandwidthMbps } = grant.limits;
  return {
    cpuMillicores,
    memoryMb,
    processesMax: processesMax ?? bounds.processesMax,
    diskMb: diskMb ?? bounds.diskMb,
    // The full CPU share until the timeout; where shares cannot be enforced, this is the only limit.
    cpuSecondsMax: Math.ceil((timeoutMs / 1000) * Math.max(1, cpuMillicores / 1000)) + 1,
    ...(networkBandwidthMbps === undefined ? {} : { networkBandwidthMbps }),
    ...(priority === undefined ? {} : { priority }),
  };
}
