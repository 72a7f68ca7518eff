import type { Usage } from '../domain/invocation/usage.ts';
import type { SandboxExit } from '../sandbox/driver.port.ts';

/** What a run in a sandbox used, as the record of its call tells it. */
export function usageOf({ cpuMs, memoryPeakMb, network, weakerLimits }: SandboxExit): Usage {
  return {
    // One ms of a whole core is one thousandth of a core for a second.
    cpuMillicoreSeconds: cpuMs,
    memoryPeakMb,
    networkBytesSent: network?.bytesSent ?? 0,
    networkBytesReceived: network?.bytesReceived ?? 0,
    ...(weakerLimits === undefined ? {} : { weakerLimits }),
  };
}
