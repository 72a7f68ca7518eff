import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/** True when a value has a shape. Never throws. */
export type Shape = (value: unknown) => boolean;

/**
 * A fast validator for a schema of this project; never for a foreign one, whose patterns would run without a limit. It
 * is made within milliseconds on first use, while generating code that names every fault takes ten times as long, so a
 * start that sees only valid values never pays for that.
 *
 * `true` is final. `false` also stands for a value that is too deeply nested to check: the validator that names faults
 * has the last word.
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
