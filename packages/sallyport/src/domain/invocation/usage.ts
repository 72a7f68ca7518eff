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
