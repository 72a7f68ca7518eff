import type { ExecutionMetadata } from '../../../api/schemas/invocation.ts';

/** What one execution used. Figures that an executor cannot measure are 0. */
export interface Usage {
  readonly cpuMillicoreSeconds: number;
  readonly memoryPeakMb: number;
  readonly networkBytesSent: number;
  readonly networkBytesReceived: number;
  /** Limits that could not be enforced in full at the execution, by name; absent when all were. */
  readonly weakerLimits?: Readonly<NonNullable<ExecutionMetadata['weaker_limits']>>;
}

/** Nothing measured. */
export const NO_USAGE: Usage = {
  cpuMillicoreSeconds: 0,
  memoryPeakMb: 0,
  networkBytesSent: 0,
  networkBytesReceived: 0,
};

/** Metadata of a call of which no execution was measured. @param startedAt epoch ms */
export const unmeasured = (startedAt: number): ExecutionMetadata => ({
  duration_ms: 0,
  started_at: new Date(startedAt).toISOString(),
  cpu_used_millicore_seconds: 0,
  memory_peak_mb: 0,
  network_bytes_sent: 0,
  network_bytes_received: 0,
  documents_accessed: [],
  checkpoints_created: [],
  attempts: 0,
  cached: false,
});
