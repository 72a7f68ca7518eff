import type { ErrorObject } from 'ajv';
import { isMultipleOf } from '../judge/multiple-of.ts';
import { shortened } from './shortened.ts';

/** One right text for each format of the specification. */
export const FORMAT_EXAMPLES: ReadonlyMap<string, string> = new Map([
  ['date', '2026-01-05'],
  ['date-time', '2026-01-05T10:00:00Z'],
  ['time', '10:00:00Z'],
  ['duration', 'PT1H30M'],
  ['email', 'name@example.com'],
  ['hostname', 'host.example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uri', 'https://example.com/path'],
  ['url', 'https://example.com/path'],
  ['uri-reference', '/path#part'],
  ['uuid', '123e4567-e89b-12d3-a456-426614174000'],
  ['json-pointer', '/name/0'],
  ['regex', '^[a-z]+$'],
  ['byte', 'aGVsbG8='],
]);

/** What to change so that a keyword holds, with the nearest value that does where there is one. */
export function hintFor(error: ErrorObject): string {
  const { keyword, params, schema } = error;
  switch (keyword) {
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `Give a number ${params['comparison']} ${params['limit']}.${nearestNumber(error)}`;
    case 'multipleOf':
      return `Give a multiple of ${params['multipleOf']}.${nearestNumber(error)}`;
    case 'pattern':
      return `Give a text that matches ${shortened(String(params['pattern']))}`;
    case 'minLength':
    case 'maxLength':
      return `Give a text of at ${keyword === 'minLength' ? 'least' : 'most'} ${params['limit']} characters.`;
    case 'minItems':
    case 'maxItems':
      return `Give a list of at ${keyword === 'minItems' ? 'least' : 'most'} ${params['limit']} elements.`;
    case 'uniqueItems':
      return 'Leave out what is in the list already.';
    case 'anyOf':
      return 'Match at least one of the alternatives; the other faults at this place say what each lacks.';
    case 'oneOf':
      return Array.isArray(params['passingSchemas'])
        ? 'The value fits more than one alternative; give what only one of them allows.'
        : 'Match exactly one of the alternatives; the other faults at this place say what each lacks.';
    default:
      return typeof schema === 'number' ? `The limit is ${schema}.` : 'Change the value so that it matches the schema.';
  }
}

/** The nearest number that all bounds beside the failing one allow too; nothing when there is none to be named. */
function nearestNumber({ data, parentSchema = {} }: ErrorObject): string {
  if (typeof data !== 'number') return '';
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, type } = parentSchema;
  const step = typeof multipleOf === 'number' ? multipleOf : type === 'integer' ? 1 : undefined;
  const least = Math.max(minimum ?? -Infinity, exclusiveMinimum ?? -Infinity);
  const most = Math.min(maximum ?? Infinity, exclusiveMaximum ?? Infinity);
  const inside = Math.min(Math.max(data, least), most);
  const candidates = step === undefined ? [inside] : stepsAround(inside, step);
  const fits = candidates
    .filter((value) => value >= least && value <= most && value !== exclusiveMinimum && value !== exclusiveMaximum)
    .filter((value) => step === undefined || isMultipleOf(value, step))
    .sort((a, b) => Math.abs(a - data) - Math.abs(b - data));
  return fits[0] === undefined ? '' : ` The nearest is ${fits[0]}.`;
}

/** Multiples of a step below, at and above a number, in as many digits as the step has. */
function stepsAround(number: number, step: number): number[] {
  const count = Math.round(number / step);
  return [count - 1, count, count + 1].map((times) => Number((times * step).toPrecision(15))).filter(Number.isFinite);
}
