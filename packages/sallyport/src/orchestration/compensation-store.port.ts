import type { ErrorCode } from '@sallyport/std/error/catalogue';
import type { EventsOf } from '../domain/event/events-of.ts';

/** The state of one side effect's compensation. */
export interface Compensation {
  readonly tenantId: string;
  /** The call whose side effect it is. */
  readonly invocationId: string;
  /** 1 for the first. Another attempt follows only when the last one failed and its tool is safe to repeat. */
  readonly attempt: number;
  /** `unknown`: the compensating call was cut off, and its effect is unknown. */
  readonly state: 'compensating' | 'compensated' | 'failed' | 'unknown';
  readonly toolId: string;
  /** The compensating call. */
  readonly compensationId: string;
  /** DID of the agent that asked for it. */
  readonly by: string;
  /** Epoch ms. */
  readonly startedAt: number;
  /** Epoch ms; absent while it is compensating. */
  readonly endedAt?: number;
  /** Code of the failure. */
  readonly errorCode?: ErrorCode;
}

/** The members on which a change is conditional. */
export type CompensationStep = Pick<Compensation, 'attempt' | 'state'>;

/** Records which side effects were taken back. One row for each side effect, kept for good. */
export interface CompensationStore {
  /** The compensations of these calls; calls without one are skipped. No order. */
  find(tenantId: string, invocationIds: readonly string[]): Promise<readonly Compensation[]>;
  /**
   * Writes the row, atomically, if it is at `from`; undefined: if there is no row.
   * @returns true when it was written
   */
  change(to: Compensation, from: CompensationStep | undefined, events?: EventsOf<void>): Promise<boolean>;
  /** Removes the row, atomically, if it is at `from`: nothing of the compensation ran. */
  remove(tenantId: string, invocationId: string, from: CompensationStep): Promise<boolean>;
  /** Compensations under way, of all tenants, oldest first. */
  open(limit: number): Promise<readonly Compensation[]>;
}
