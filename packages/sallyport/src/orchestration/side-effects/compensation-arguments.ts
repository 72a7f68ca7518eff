import { type Failure, failure } from '@sallyport/std/error/failure';
import type { CompensationPlan } from '../../domain/invocation/compensation-plan.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { resultMembers } from '../../domain/invocation/result-members.ts';
import { isObject } from '../../domain/shape/is-object.ts';

type Values = Readonly<Record<string, unknown>>;

const ABSENT: Values = {};

/**
 * The arguments of a compensating call. Each property that the compensating tool takes is looked up by its name: in the
 * asker's arguments, in the result of the call, in its arguments; a value of another type is skipped. What the result
 * said is never replaced by an argument of the call: a member that is not known any more has to be stated by the asker.
 * `original_invocation_id`, `original_arguments` and `original_result` have fixed meanings when the tool has properties
 * of these names.
 * @param schema of the compensating tool; one without properties takes all arguments, overlaid with the result
 * @returns E3818 that names the members
 */
export function compensationArguments(
  schema: Values,
  { invocationId, result }: Pick<InvocationRecord, 'invocationId' | 'result'>,
  { parameters, resultMembers: part, isResultUnknown }: CompensationPlan,
  said: Values = ABSENT,
): Record<string, unknown> | Failure {
  const given = part?.kept ?? resultMembers(result);
  const properties = objectOr(schema['properties']);
  const takesAll = Object.keys(properties).length === 0;
  const hidden = Object.keys(given).filter((name) => isHidden(given[name]));
  // Of a result that nobody knows, every argument of the call may have been something else.
  const lacking = isResultUnknown === true ? Object.keys(parameters) : [...(part?.left ?? []), ...hidden];
  const unknown = lacking.filter((name) => !Object.hasOwn(said, name) && (takesAll || Object.hasOwn(properties, name)));
  if (unknown.length > 0) return notKnown(unknown);
  if (takesAll) return { ...parameters, ...given, ...said };
  const original: Values = {
    original_invocation_id: invocationId,
    original_arguments: parameters,
    original_result: result,
  };
  const found: Record<string, unknown> = { ...said };
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(said, name)) continue;
    const source = [given, parameters, original].find((values) => fits(values, name, property));
    if (source !== undefined) found[name] = source[name];
  }
  return found;
}

/** True for a value of which something was taken out (redact.results). */
const isHidden = (value: unknown): boolean => JSON.stringify(value)?.includes('[REDACTED:') === true;

const notKnown = (names: readonly string[]): Failure =>
  failure(
    'E3818',
    `The call is not taken back, since ${names.map((name) => JSON.stringify(name)).join(', ')} of its result is not on record. State it in arguments.`,
    { details: { arguments: names } },
  );

function fits(values: Values, name: string, property: unknown): boolean {
  if (!Object.hasOwn(values, name) || values[name] === undefined) return false;
  const { type } = objectOr(property);
  if (typeof type !== 'string' && !Array.isArray(type)) return true;
  return [type].flat().some((each) => isOf(each, values[name]));
}

function isOf(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

const objectOr = (value: unknown): Values => (isObject(value) ? value : ABSENT);
