import type { ErrorObject } from 'ajv';
import type { Fault } from '../../../api/schemas/error.ts';
import { pointerTo } from '../../std/json-pointer.ts';
import { isOfType } from '../coerce/coerce-scalar.ts';
import { nearest } from './edit-distance.ts';
import { faultAt } from './fault.ts';

/** Faults beyond this many are counted, not listed. */
export const FAULTS_MAX = 100;
/** Allowed values that a hint names, when none is near to what was given. */
const NAMED_MAX = 12;
/** Characters of one allowed value in a hint. */
const VALUE_TEXT_MAX = 80;

/** Errors that only say that a subschema, listed with its own errors, did not hold. */
const ECHOES: ReadonlySet<string> = new Set(['if', 'propertyNames']);

/**
 * Ajv's errors as faults, each once.
 * @param coercing whether conversion was tried: a scalar that still has the wrong type is then E3502, not E3507
 */
export function faultsOf(errors: readonly ErrorObject[], coercing: boolean): Fault[] {
  const faults = new Map<string, Fault>();
  let unlisted = 0;
  for (const error of errors) {
    if (ECHOES.has(error.keyword) && errors.length > 1) continue;
    if (faults.size >= FAULTS_MAX) {
      unlisted += 1;
      continue;
    }
    const fault = faultOf(error, coercing);
    const key = `${fault.path}\n${fault.keyword}\n${fault.message}`;
    if (!faults.has(key)) faults.set(key, fault);
  }
  const listed = [...faults.values()];
  if (unlisted > 0)
    listed.push(
      faultAt('', 'E3501', 'faults', `${unlisted} further faults are not listed.`, 'Correct the listed ones first.'),
    );
  return listed;
}

function faultOf(error: ErrorObject, coercing: boolean): Fault {
  const { keyword, instancePath: path, params } = error;
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
    case 'dependencies':
      return missing(path, keyword, String(params['missingProperty']), params['property']);
    case 'type':
      return wrongType(error, coercing);
    case 'additionalProperties':
      return unknownProperty(error, String(params['additionalProperty']));
    case 'unevaluatedProperties':
      return unknownProperty(error, String(params['unevaluatedProperty']));
    case 'enum':
      return notAllowed(error, params['allowedValues'] as readonly unknown[]);
    case 'const':
      return notAllowed(error, [params['allowedValue']]);
    case 'false schema':
      return faultAt(path, 'E3501', 'false', 'No value is allowed here.', 'Remove it.');
    case 'not':
      return faultAt(path, 'E3501', keyword, 'The value is one that the schema excludes.', 'Choose another value.');
    default:
      return faultAt(path, 'E3501', keyword, sentence(error.message), hintFor(error));
  }
}

function missing(path: string, keyword: string, name: string, because: unknown): Fault {
  const reason = typeof because === 'string' ? ` because "${because}" is given` : '';
  return faultAt(
    pointerTo(path, name),
    'E3506',
    keyword,
    `The required property "${name}" is missing${reason}.`,
    `Add "${name}".`,
  );
}

function wrongType({ instancePath, keyword, params, data }: ErrorObject, coercing: boolean): Fault {
  const types = [params['type']].flat().map(String);
  const wanted = types.join(' or ');
  const scalar = data === null || typeof data !== 'object';
  if (!coercing || !scalar || !types.some(isScalarType))
    return faultAt(
      instancePath,
      'E3507',
      keyword,
      `Must be ${wanted}, not ${typeOf(data)}.`,
      `Give ${article(wanted)}.`,
    );
  return faultAt(
    instancePath,
    'E3502',
    keyword,
    `Must be ${wanted}; the ${typeOf(data)} does not convert without loss.`,
    `Give ${article(wanted)} as a JSON value.`,
  );
}

const isScalarType = (type: string): boolean => type !== 'object' && type !== 'array' && type !== 'null';
const article = (wanted: string): string =>
  /^[aeio]/.test(wanted) ? `an ${wanted}` : wanted === 'null' ? wanted : `a ${wanted}`;
const typeOf = (data: unknown): string =>
  ['null', 'array', 'object'].find((type) => isOfType(data, type)) ??
  (typeof data === 'undefined' ? 'nothing' : typeof data);

function unknownProperty({ instancePath, keyword, parentSchema }: ErrorObject, name: string): Fault {
  const known = Object.keys((parentSchema?.['properties'] as object | undefined) ?? {});
  const near = nearest(name, known);
  const hint =
    near !== undefined
      ? `Did you mean "${near}"? Otherwise remove it.`
      : `Remove it.${known.length > 0 && known.length <= NAMED_MAX ? ` Known are: ${known.join(', ')}.` : ''}`;
  return faultAt(
    pointerTo(instancePath, name),
    'E3501',
    keyword,
    `The property "${shortened(name)}" is not known here.`,
    hint,
  );
}

function notAllowed({ instancePath, keyword, data }: ErrorObject, allowed: readonly unknown[]): Fault {
  const texts = allowed.filter((value): value is string => typeof value === 'string');
  const near = typeof data === 'string' ? nearest(data, texts) : undefined;
  const named = allowed.slice(0, NAMED_MAX).map((value) => shortened(JSON.stringify(value) ?? ''));
  const more = allowed.length > NAMED_MAX ? `, and ${allowed.length - NAMED_MAX} more` : '';
  const hint =
    near === undefined
      ? `Use ${allowed.length > 1 ? 'one of ' : ''}${named.join(', ')}${more}.`
      : `Did you mean "${near}"?`;
  return faultAt(instancePath, 'E3501', keyword, 'The value is not one of those allowed.', hint);
}

const shortened = (text: string): string =>
  text.length <= VALUE_TEXT_MAX ? text : `${text.slice(0, VALUE_TEXT_MAX)}…`;

function sentence(message = 'does not match the schema'): string {
  return `${message[0]?.toUpperCase() ?? ''}${message.slice(1)}.`;
}

function hintFor({ keyword, params, schema }: ErrorObject): string {
  switch (keyword) {
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `Give a number ${params['comparison']} ${params['limit']}.`;
    case 'multipleOf':
      return `Give a multiple of ${params['multipleOf']}.`;
    case 'pattern':
      return `Give a text that matches ${shortened(String(params['pattern']))}`;
    case 'format':
      return `Give a text in the format ${params['format']}.`;
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
