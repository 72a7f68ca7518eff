import { messageOf } from '@sallyport/std/error/message-of';
import type { Fault } from '../../../../api/schemas/error.ts';
import { faultAt } from '../faults/fault.ts';
import { compileLinearPattern } from '../patterns/linear-pattern.ts';

/** Work of all patterns of a schema together for one character; see LinearPattern. */
const STEPS_PER_CHARACTER_MAX = 5_000;
/** Characters of a pattern that a message shows. */
const SHOWN_MAX = 80;

/** A check of every pattern of a schema, which notes what keeps one from running in linear time (VAL-05). */
export function patternFaults(faults: Fault[]): (pattern: string, pointer: string) => void {
  const seen = new Map<string, string | undefined>();
  let steps = 0;
  const fault = (pattern: string): string | undefined => {
    if (steps > STEPS_PER_CHARACTER_MAX) return 'all patterns of the schema together are too large';
    try {
      steps += compileLinearPattern(pattern).stepsPerCharacter;
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };
  return (pattern, pointer) => {
    const why = seen.has(pattern) ? seen.get(pattern) : fault(pattern);
    seen.set(pattern, why);
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
