import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../../../../api/schemas/error.ts';
import { isObject } from '../../../../domain/shape/is-object.ts';
import type { Params } from '../../../json-rpc.ts';

/** One argument of a tool of the gateway: the subset of JSON Schema that these tools need. */
export type ArgumentSchema =
  | {
      readonly type: 'string';
      readonly minLength?: number;
      readonly maxLength?: number;
      readonly enum?: readonly string[];
    }
  | { readonly type: 'integer'; readonly minimum: number; readonly maximum: number }
  | { readonly type: 'array'; readonly items: { readonly type: 'string' }; readonly maxItems: number }
  | { readonly type: 'object' };

/** Arguments of a tool of the gateway. */
export interface ArgumentsSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ArgumentSchema & { readonly description: string }>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** Most unknown arguments named in an error; a client may send any number. */
const UNKNOWN_MAX = 8;

/** Faults in the arguments of a meta-tool, each with its place; empty when they fit. */
export function argumentFaults({ properties, required }: ArgumentsSchema, given: Params): Fault[] {
  const missing = required
    .filter((name) => given[name] === undefined)
    .map((name) => faultAt(name, 'required', 'is missing', `Give ${name}.`));
  const misplaced = Object.keys(given)
    .filter((name) => !Object.hasOwn(properties, name))
    .slice(0, UNKNOWN_MAX)
    .map((name) => faultAt(name, 'additionalProperties', 'is not an argument of this tool', unknownHint(properties)));
  const wrong = Object.entries(properties).flatMap(([name, schema]) => {
    const value = given[name];
    const fault = value === undefined ? undefined : misfit(schema, value);
    return fault === undefined ? [] : [faultAt(name, ...fault)];
  });
  return [...missing, ...misplaced, ...wrong];
}

/** Models often put the inner tool's arguments beside its name. */
function unknownHint(properties: ArgumentsSchema['properties']): string {
  const known = Object.keys(properties);
  return known.includes('arguments')
    ? "Put the tool's own arguments into the object arguments."
    : `It takes ${known.join(', ')}.`;
}

type Misfit = readonly [keyword: string, message: string, hint?: string];

function misfit(schema: ArgumentSchema, value: unknown): Misfit | undefined {
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' ? stringMisfit(schema, value) : ['type', 'must be a string'];
    case 'integer': {
      const { minimum, maximum } = schema;
      if (!Number.isInteger(value)) return ['type', 'must be a whole number'];
      const isWithin = (value as number) >= minimum && (value as number) <= maximum;
      return isWithin ? undefined : ['maximum', `must be from ${minimum} to ${maximum}`];
    }
    case 'array': {
      const isFit = Array.isArray(value) && value.every((item) => typeof item === 'string');
      if (!isFit) return ['type', 'must be a list of strings'];
      return value.length > schema.maxItems ? ['maxItems', `must hold ${schema.maxItems} at most`] : undefined;
    }
    case 'object':
      return isObject(value) ? undefined : ['type', 'must be an object', 'Send a JSON object, not its text.'];
  }
}

function stringMisfit(schema: Extract<ArgumentSchema, { type: 'string' }>, value: string): Misfit | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, enum: allowed } = schema;
  if (allowed !== undefined && !allowed.includes(value)) return ['enum', `must be one of ${allowed.join(', ')}`];
  if (value.length < minLength) return ['minLength', 'must not be empty'];
  return value.length > maxLength ? ['maxLength', `must have ${maxLength} characters at most`] : undefined;
}

function faultAt(name: string, keyword: string, message: string, hint?: string): Fault {
  const path = pointerTo('', name.slice(0, 100));
  return { path, code: 'E3509', keyword, message, ...(hint === undefined ? {} : { hint }) };
}
