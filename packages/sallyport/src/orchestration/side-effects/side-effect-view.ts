import type { SideEffectStatus } from '../../../api/schemas/calls/side-effect.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { ownEffectStatus } from '../../domain/invocation/side-effect.ts';
import type { OutcomeSettlement } from '../../pipeline/outcome-store.port.ts';
import type { Compensation } from '../compensation-store.port.ts';

/** The side effect of one call: its row, and what became of taking it back (VIS-03). */
export interface SideEffect {
  /** Of a call whose outcome was not known and that was found to have happened, the row that it would have had. */
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

/**
 * Undefined for a call that left nothing behind, and could not have.
 * @param settlement what was found out of it, where its outcome was not known
 */
export function sideEffectView(
  row: InvocationRecord,
  compensation: Compensation | undefined,
  settlement?: OutcomeSettlement,
): SideEffect | undefined {
  const { record, status } = known(row, settlement);
  if (compensation !== undefined) return { record, status: COMPENSATION_STATUS[compensation.state], compensation };
  return status === undefined ? undefined : { record, status };
}

function known(row: InvocationRecord, settlement: OutcomeSettlement | undefined) {
  const status = ownEffectStatus(row);
  if (status !== 'unknown' || settlement === undefined) return { record: row, status };
  const { outcome, how } = settlement;
  if (outcome === 'did_not_happen')
    return { record: row, status: how === 'rollback' ? 'rolled_back' : 'failed' } as const;
  const { failure: _unknown, metadata, ...rest } = row;
  const record: InvocationRecord = {
    ...rest,
    state: 'COMPLETED',
    // A row that was written before its tool was reached counts none.
    ...(metadata === undefined ? {} : { metadata: { ...metadata, attempts: Math.max(1, metadata.attempts) } }),
    ...('result' in settlement ? { result: settlement.result } : {}),
  };
  return { record, status: 'executed' } as const;
}

/** How side effects stand that can be taken back, and were not yet. */
const OPEN: ReadonlySet<SideEffectStatus> = new Set(['executed', 'compensating', 'compensation_failed']);

/** Whether it can be taken back, and was not yet. */
export function needsCompensation({ record, status }: SideEffect): boolean {
  return record.compensation !== undefined && OPEN.has(status);
}
