import type { ErrorCode } from '@sallyport/std/error/catalogue';

/** How the taking back of one call's side effect stands. */
export interface Compensation {
  readonly tenantId: string;
  /** The call whose side effect it is. */
  readonly invocationId: string;
  /** 1 for the first. Another follows only when the last one failed and its tool is safe to repeat. */
  readonly attempt: number;
  /** `unknown`: the compensating call was cut off, and nobody knows what it did. */
  readonly state: 'compensating' | 'compensated' | 'failed' | 'unknown';
  readonly toolId: string;
  /** The call that takes it back. */
  readonly compensationId: string;
  /** Agent DID of who asked for it. */
  readonly by: string;
  /** Epoch ms. */
  readonly startedAt: number;
  /** Epoch ms; absent while it is compensating. */
  readonly endedAt?: number;
  /** What it failed with. */
  readonly errorCode?: ErrorCode;
}

/** What a change is bound to. */
export type CompensationStep = Pick<Compensation, 'attempt' | 'state'>;

/** Where it is kept which side effects were taken back. One row for each side effect, for good. */
export interface CompensationStore {
  /** Those of the calls that have one, in any order. */
  find(tenantId: string, invocationIds: readonly string[]): Promise<readonly Compensation[]>;
  /**
   * Writes the row, atomically, if it stands at `from`; undefined: if there is none.
   * @returns whether it was written
   */
  change(to: Compensation, from: CompensationStep | undefined): Promise<boolean>;
  /** Removes the row, atomically, if it stands at `from`: nothing of the compensation ran. */
  remove(tenantId: string, invocationId: string, from: CompensationStep): Promise<boolean>;
  /** Those that are compensating, of all tenants, the oldest first. */
  open(limit: number): Promise<readonly Compensation[]>;
}
