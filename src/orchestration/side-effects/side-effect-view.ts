import type { SideEffectStatus } from '../../../api/schemas/calls/side-effect.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { ownEffectStatus } from '../../domain/invocation/side-effect.ts';
import type { Compensation } from '../compensation-store.port.ts';

/** The side effect of one call: its row, and what became of taking it back (VIS-03). */
export interface SideEffect {
  readonly record: InvocationRecord;
  readonly status: SideEffectStatus;
  /** Absent when nobody asked for it. */
  readonly compensation?: Compensation;
}

const COMPENSATION_STATUS = {
  compensating: 'compensating',
  compensated: 'compensated',
  failed: 'compensation_failed',
  unknown: 'compensation_unknown',
} as const satisfies Record<Compensation['state'], SideEffectStatus>;

/** Undefined for a call that left nothing behind, and could not have. */
export function sideEffectView(
  record: InvocationRecord,
  compensation: Compensation | undefined,
): SideEffect | undefined {
  if (compensation !== undefined) return { record, status: COMPENSATION_STATUS[compensation.state], compensation };
  const status = ownEffectStatus(record);
  return status === undefined ? undefined : { record, status };
}

/** Whether it can be taken back, and was not yet. */
export function needsCompensation({ record, status }: SideEffect): boolean {
  return record.compensation !== undefined && status !== 'compensated' && status !== 'compensation_unknown';
}
