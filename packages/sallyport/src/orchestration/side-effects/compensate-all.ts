import { type Failure, isFailure } from '@sallyport/std/error/failure';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { type Compensated, compensate } from './compensate.ts';
import type { CompensationAsker, CompensationParts } from './compensation-parts.ts';

/** Outcome for one side effect of many. */
export interface OneOfMany {
  readonly record: InvocationRecord;
  readonly outcome: 'compensated' | 'compensating' | 'failed' | 'unknown' | 'not_compensatable' | 'not_tried';
  readonly done?: Compensated;
  readonly failure?: Failure;
}

/**
 * Compensates side effects one after the other, latest first, and stops at the first failure unless the request says to continue.
 * Side effects that cannot be taken back by nature are skipped and reported.
 * @param records in the order in which they ran
 */
export async function compensateAll(
  parts: CompensationParts,
  records: readonly InvocationRecord[],
  asker: CompensationAsker,
  continueOnFailure: boolean,
): Promise<readonly OneOfMany[]> {
  const outcomes: OneOfMany[] = [];
  let stopped = false;
  for (const record of records.toReversed()) {
    if (!canBeTakenBack(record)) outcomes.push({ record, outcome: 'not_compensatable' });
    else if (stopped) outcomes.push({ record, outcome: 'not_tried' });
    else {
      const done = await compensate(parts, record, asker);
      const one = outcomeOf(record, done);
      outcomes.push(one);
      stopped = one.outcome !== 'compensated' && !continueOnFailure;
    }
  }
  return outcomes;
}

/** True when its tool can be compensated, and the call ran, may have run, or may still run. */
const canBeTakenBack = ({ compensation, sideEffect, state }: InvocationRecord): boolean =>
  compensation !== undefined || (sideEffect === 'compensatable' && !isFinal(state));

function outcomeOf(record: InvocationRecord, done: Compensated | Failure): OneOfMany {
  if (isFailure(done)) return { record, outcome: 'failed', failure: done };
  const { effect, failure } = done;
  const said = failure === undefined ? {} : { failure };
  switch (effect.status) {
    case 'compensated':
      return { record, outcome: 'compensated', done };
    case 'compensation_unknown':
      return { record, outcome: 'unknown', done, ...said };
    case 'compensating':
      return { record, outcome: failure === undefined ? 'compensating' : 'failed', done, ...said };
    default:
      return { record, outcome: 'failed', done, ...said };
  }
}
