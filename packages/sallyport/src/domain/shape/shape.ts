import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/** Whether a value has a shape. Never throws. */
export type Shape = (value: unknown) => boolean;

/**
 * A quick judge for a schema that this project wrote; never for a foreign one, whose patterns would run without a bound.
 * It is there some milliseconds after the first question, where generating code that names every fault takes ten times as
 * long, so a start that only sees good values never pays for that.
 *
 * `true` is final. `false` also stands for a value that is too deep to be judged: whoever names faults has the last word.
 */
export function shapeOf(schema: TSchema): Shape {
  let judge: { Check(value: unknown): boolean } | undefined;
  return (value) => {
    judge ??= Compile(schema);
    try {
      return judge.Check(value);
    } catch (thrown) {
      // A value that is nested deeper than the stack.
      if (thrown instanceof RangeError) return false;
      throw thrown;
    }
  };
}
