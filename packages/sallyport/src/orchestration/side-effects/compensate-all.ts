import { type Failure, isFailure } from '@sallyport/std/error/failure';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { ownEffectStatus } from '../../domain/invocation/side-effect.ts';
import { type Compensated, compensate } from './compensate.ts';
import type { CompensationAsker, CompensationParts } from './compensation-parts.ts';

/** What became of one side effect of many. */
export interface OneOfMany {
  readonly record: InvocationRecord;
  readonly outcome: 'compensated' | 'compensating' | 'failed' | 'unknown' | 'not_compensatable' | 'not_tried';
  readonly done?: Compensated;
  readonly failure?: Failure;
}

/**
 * Takes side effects back one after the other, the last that ran first, and stops at the first that could not be taken
 * back unless it is told to go on. What cannot be taken back by its nature is passed by and said.
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

/** Its tool says how, and it surely ran. */
const canBeTakenBack = (record: InvocationRecord): boolean =>
  record.compensation !== undefined && ownEffectStatus(record) === 'executed';

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
