import type { CompensationPlan } from '../../domain/invocation/compensation-plan.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { resultMembers } from '../../domain/invocation/result-members.ts';
import { isObject } from '../../domain/shape/is-object.ts';

type Values = Readonly<Record<string, unknown>>;

const ABSENT: Values = {};

/**
 * The arguments of a compensating call. Each property that the compensating tool takes is looked up by its name: in the
 * asker's arguments, in the result of the call, in its arguments; a value of another type is skipped.
 * `original_invocation_id`, `original_arguments` and `original_result` have fixed meanings when the tool has properties
 * of these names.
 * @param schema of the compensating tool; one without properties takes all arguments, overlaid with the result
 */
export function compensationArguments(
  schema: Values,
  { invocationId, result }: Pick<InvocationRecord, 'invocationId' | 'result'>,
  { parameters }: CompensationPlan,
  said: Values = ABSENT,
): Record<string, unknown> {
  const given = resultMembers(result);
  const properties = objectOr(schema['properties']);
  if (Object.keys(properties).length === 0) return { ...parameters, ...given, ...said };
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
