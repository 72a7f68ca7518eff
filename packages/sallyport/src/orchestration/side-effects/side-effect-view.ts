import type { SideEffectStatus } from '../../../api/schemas/calls/side-effect.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { ownEffectStatus } from '../../domain/invocation/side-effect.ts';
import type { OutcomeSettlement } from '../../pipeline/outcome-store.port.ts';
import type { Compensation } from '../compensation-store.port.ts';

/** The side effect of one call: its row, and the state of its compensation (VIS-03). */
export interface SideEffect {
  /** For a call whose unknown outcome was settled as completed, the row that it would have had. */
  readonly record: InvocationRecord;
  readonly status: SideEffectStatus;
  /** Absent when nobody asked for a compensation. */
  readonly compensation?: Compensation;
}

const COMPENSATION_STATUS = {
  compensating: 'compensating',
  compensated: 'compensated',
  failed: 'compensation_failed',
  unknown: 'compensation_unknown',
} as const satisfies Record<Compensation['state'], SideEffectStatus>;

/**
 * Undefined for a call that left no side effect, and could not have.
 * @param settlement of the call, if its outcome was unknown
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
  const { failure: _unknown, metadata, compensation, ...rest } = row;
  const plan =
    compensation === undefined || 'result' in settlement
      ? compensation
      : { ...compensation, isResultUnknown: true as const };
  const record: InvocationRecord = {
    ...rest,
    state: 'COMPLETED',
    // A row that was written before its tool was reached has no count.
    ...(metadata === undefined ? {} : { metadata: { ...metadata, attempts: Math.max(1, metadata.attempts) } }),
    ...('result' in settlement ? { result: settlement.result } : {}),
    ...(plan === undefined ? {} : { compensation: plan }),
  };
  return { record, status: 'executed' } as const;
}

/** States of side effects that can be compensated, and were not yet. */
const OPEN: ReadonlySet<SideEffectStatus> = new Set(['executed', 'compensating', 'compensation_failed']);

/** True when the side effect can be compensated, and was not yet. */
export function needsCompensation({ record, status }: SideEffect): boolean {
  return record.compensation !== undefined && OPEN.has(status);
}
