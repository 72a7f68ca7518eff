import { pointerTo } from '@sallyport/std/json/json-pointer';
import { nearestName } from '@sallyport/std/text/nearest-name';
import type { ErrorObject } from 'ajv';
import type { Fault } from '../../../../api/schemas/error.ts';
import { isOfType } from '../../coerce/coerce-scalar.ts';
import type { CoercionRules } from '../../coerce/coercion-rules.ts';
import type { Errors } from '../judge/compile-schema.ts';
import { faultAt } from './fault.ts';
import { FORMAT_EXAMPLES, hintFor } from './hints.ts';
import { shortened } from './shortened.ts';

/** Faults beyond this many are counted, not listed. */
export const FAULTS_MAX = 100;
/** Characters of a fault's pointer. */
const PATH_LENGTH_MAX = 1024;
/** Most allowed values named in a hint, when none resembles the given one. */
const NAMED_MAX = 12;

/** Most faults of one value for which a name is looked for that may be meant: each is compared with hundreds. */
const NEAR_MAX = 10;

/** Errors that only say that a subschema, whose errors are listed too, did not hold. */
const ECHOES: ReadonlySet<string> = new Set(['if', 'propertyNames']);

/**
 * Ajv's errors as faults, each once.
 * @param rules of the attempted conversion: a scalar that still has the wrong type is then E3502, not E3507
 */
export function faultsOf(errors: Errors, rules?: CoercionRules): Fault[] {
  const faults = new Map<string, Fault>();
  let unlisted = 0;
  for (const error of errors) {
    if (ECHOES.has(error.keyword) && errors.length > 1) continue;
    if (faults.size >= FAULTS_MAX) {
      unlisted += 1;
      continue;
    }
    const fault = withinBounds(faultOf(error, rules, faults.size < NEAR_MAX ? nearestName : nothingNear));
    const key = `${fault.path}\n${fault.keyword}\n${fault.message}`;
    if (!faults.has(key)) faults.set(key, fault);
  }
  const listed = [...faults.values()];
  const others = errors.more === true ? 'Many' : unlisted > 0 ? String(unlisted) : undefined;
  if (others !== undefined)
    listed.push(
      faultAt('', 'E3501', 'faults', `${others} further faults are not listed.`, 'Correct the listed ones first.'),
    );
  return listed;
}

/** A pointer contains names chosen by strangers. */
const withinBounds = (fault: Fault): Fault =>
  fault.path.length <= PATH_LENGTH_MAX ? fault : { ...fault, path: `${fault.path.slice(0, PATH_LENGTH_MAX)}…` };

/** Finds the name that may be meant by a wrong one. */
type NearName = typeof nearestName;
const nothingNear: NearName = () => undefined;

function faultOf(error: ErrorObject, rules: CoercionRules | undefined, near: NearName): Fault {
  const { keyword, instancePath: path, params } = error;
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
    case 'dependencies':
      return missing(error, String(params['missingProperty']), params['property'], near);
    case 'type':
      return wrongType(error, rules !== undefined);
    case 'additionalProperties':
      return unknownProperty(error, String(params['additionalProperty']), near);
    case 'unevaluatedProperties':
      return unknownProperty(error, String(params['unevaluatedProperty']), near);
    case 'unevaluatedItems':
      return faultAt(
        pointerTo(path, String(params['unevaluatedItem'])),
        'E3501',
        keyword,
        'No element is allowed here.',
        'Remove it.',
      );
    case 'format':
      return wrongFormat(error, rules);
    case 'enum':
      return notAllowed(error, params['allowedValues'] as readonly unknown[], near);
    case 'const':
      return notAllowed(error, [params['allowedValue']], near);
    case 'false schema':
      return faultAt(path, 'E3501', 'false', 'No value is allowed here.', 'Remove it.');
    case 'not':
      return faultAt(path, 'E3501', keyword, 'The value is one that the schema excludes.', 'Choose another value.');
    default:
      return faultAt(path, 'E3501', keyword, sentence(error.message), hintFor(error));
  }
}

function missing(
  { instancePath, keyword, data, parentSchema }: ErrorObject,
  name: string,
  because: unknown,
  nearName: NearName,
): Fault {
  const reason = typeof because === 'string' ? ` because "${because}" is given` : '';
  const known = new Set(knownProperties(parentSchema));
  const strangers = Object.keys(data as object).filter((given) => given !== because && !known.has(given));
  const near = nearName(name, strangers);
  return faultAt(
    pointerTo(instancePath, name),
    'E3506',
    keyword,
    `The required property "${name}" is missing${reason}.`,
    near === undefined ? `Add "${name}".` : `Add "${name}"; "${near}" may be meant for it.`,
  );
}

const knownProperties = (schema: ErrorObject['parentSchema']): readonly string[] =>
  Object.keys((schema?.['properties'] as object | undefined) ?? {});

/** A date or time that only needed another spelling counts as not converted. */
function wrongFormat({ instancePath, keyword, params }: ErrorObject, rules: CoercionRules | undefined): Fault {
  const format = String(params['format']);
  const example = FORMAT_EXAMPLES.get(format);
  const converting = rules?.dates === true && (format === 'date' || format === 'date-time');
  return faultAt(
    instancePath,
    converting ? 'E3502' : 'E3501',
    keyword,
    converting
      ? `Must be in the format ${format}; the text does not convert to one ${format} without doubt.`
      : `Must match format "${format}".`,
    `Give a text in the format ${format}${example === undefined ? '.' : `, for example ${example}`}`,
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

function unknownProperty(
  { instancePath, keyword, parentSchema }: ErrorObject,
  name: string,
  nearName: NearName,
): Fault {
  const known = knownProperties(parentSchema);
  const near = nearName(name, known);
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

function notAllowed(
  { instancePath, keyword, data }: ErrorObject,
  allowed: readonly unknown[],
  nearName: NearName,
): Fault {
  const near = nearestAllowed(data, allowed, nearName);
  const named = allowed.slice(0, NAMED_MAX).map((value) => shortened(JSON.stringify(value) ?? ''));
  const more = allowed.length > NAMED_MAX ? `, and ${allowed.length - NAMED_MAX} more` : '';
  const hint =
    near === undefined
      ? `Use ${allowed.length > 1 ? 'one of ' : ''}${named.join(', ')}${more}.`
      : `Did you mean ${JSON.stringify(near)}?`;
  return faultAt(instancePath, 'E3501', keyword, 'The value is not one of those allowed.', hint);
}

/** By spelling for texts, by distance for numbers when there are too many to be named. */
function nearestAllowed(data: unknown, allowed: readonly unknown[], nearName: NearName): string | number | undefined {
  if (typeof data === 'string')
    return nearName(
      data,
      allowed.filter((value) => typeof value === 'string'),
    );
  if (typeof data !== 'number' || allowed.length <= NAMED_MAX) return undefined;
  const numbers = allowed.filter((value) => typeof value === 'number');
  return numbers.reduce<number | undefined>(
    (best, value) => (best === undefined || Math.abs(value - data) < Math.abs(best - data) ? value : best),
    undefined,
  );
}

function sentence(message = 'does not match the schema'): string {
  return `${message[0]?.toUpperCase() ?? ''}${message.slice(1)}.`;
}
