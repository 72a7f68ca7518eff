import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../../api/schemas/error.ts';
import type { SchemaIssue, SchemaVerdict, Validate } from './schemas/standard-schema.ts';

/** Most issues reported of one value; a caller who fixes these asks again. */
const ISSUES_MAX = 20;
const MESSAGE_CHARS_MAX = 500;

type SchemaCode = 'E3501' | 'E3509';

/** A library's validations before and after a function runs. */
export interface StandardChecks {
  readonly input?: Validate | undefined;
  readonly output?: Validate | undefined;
}

/**
 * Wraps the function with its own schemas: it gets the value made by the input schema (refinements and transforms
 * included), and its result is the value made by the output schema. Without an asynchronous part it stays synchronous.
 *
 * The function then throws E3509 for input and E3501 for output, with each issue and its place in `details.faults`.
 */
export function betweenSchemas<Context>(
  run: (input: never, context: Context) => unknown,
  { input, output }: StandardChecks,
): (parameters: Readonly<Record<string, unknown>>, context: Context) => unknown {
  const call = run as (input: unknown, context: Context) => unknown;
  if (input === undefined && output === undefined) return call;
  const after = (result: unknown): unknown =>
    output === undefined ? result : then(result, (value) => judged(output, value, 'E3501'));
  return (parameters, context) => {
    if (input === undefined) return after(call(parameters, context));
    return after(then(judged(input, parameters, 'E3509'), (value) => call(value, context)));
  };
}

function judged(validate: Validate, value: unknown, code: SchemaCode): unknown {
  return then(validate(value), (verdict) => convertedBy(verdict as SchemaVerdict, code));
}

/** Continues synchronously when there is nothing to wait for. */
function then(value: unknown, next: (value: unknown) => unknown): unknown {
  return isThenable(value) ? value.then(next) : next(value);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function convertedBy(verdict: SchemaVerdict, code: SchemaCode): unknown {
  if (verdict.issues === undefined) return verdict.value;
  throw refusedBySchema(verdict.issues, code);
}

/** E3509 for arguments or E3501 for a result, with each issue and its place in `details.faults`. */
export function refusedBySchema(issues: readonly SchemaIssue[], code: SchemaCode, cause?: unknown): ToolLayerError {
  const faults = issues.slice(0, ISSUES_MAX).map(({ message, path = [] }): Fault => {
    const keys = path.map((step) => String(typeof step === 'object' ? step.key : step));
    const shown = String(message).slice(0, MESSAGE_CHARS_MAX);
    return { path: keys.reduce((at, key) => pointerTo(at, key), ''), code, keyword: 'schema', message: shown };
  });
  const [first] = faults;
  const where = first === undefined || first.path === '' ? 'as a whole' : `at ${first.path}`;
  const what = code === 'E3509' ? 'The arguments do' : 'The result does';
  const message = `${what} not match the tool's own schema: ${where}, ${first?.message ?? 'without a reason'}.`;
  return new ToolLayerError(code, message, { details: { faults }, cause });
}
