import type { Fault } from '../../../../api/schemas/error.ts';
import { patternJudge, SCHEMA_STEPS_MAX } from '../../../domain/shape/patterns/pattern-judge.ts';
import { faultAt } from '../faults/fault.ts';

/** Characters of a pattern that a message shows. */
const SHOWN_MAX = 80;

/** A check of every pattern of a schema, which notes what keeps one from running in linear time (VAL-05). */
export function patternFaults(faults: Fault[]): (pattern: string, pointer: string) => void {
  const judge = patternJudge(SCHEMA_STEPS_MAX);
  return (pattern, pointer) => {
    const why = judge(pattern);
    if (why !== undefined) faults.push(patternFault(pattern, pointer, why));
  };
}

function patternFault(pattern: string, pointer: string, why: string): Fault {
  const shown = pattern.length <= SHOWN_MAX ? pattern : `${pattern.slice(0, SHOWN_MAX)}…`;
  return faultAt(
    pointer,
    'E3008',
    'pattern',
    `The pattern ${JSON.stringify(shown)} cannot be used: ${why}.`,
    'Patterns run in linear time: no look-around, no back-references, small repeat counts.',
  );
}
