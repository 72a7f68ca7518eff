import { messageOf } from '@sallyport/std/error/message-of';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import { plainCopy } from '../plain-json.ts';
import { relaxedPatterns } from './relaxed-patterns.ts';
import { type DerivedSchema, isZod3, membersIn, type SchemaSide, standardOf } from './standard-schema.ts';
import { jsonSchemaOfZod3 } from './zod-3.ts';

/** Dialects in the order in which libraries are asked for them. */
const TARGETS = ['draft-2020-12', 'draft-07'] as const;

/**
 * The JSON Schema of any description of values: a JSON Schema (as TypeBox makes) unchanged; a library's schema by the
 * library's own conversion (StandardJSONSchema, `toJSONSchema()`); zod 3 by our translation. Nothing is lost silently:
 * a schema without JSON Schema is a fault that says what to pass instead.
 */
export function jsonSchemaOf(given: unknown, side: SchemaSide): DerivedSchema {
  const library = standardOf(given) !== undefined || isZod3(given) || membersIn(given)?.['_zod'] !== undefined;
  if (!library) return plainSchema(given);
  const asked = askLibrary(given, side);
  if (asked !== undefined && 'refusal' in asked) return refused(given, asked.refusal);
  if (asked !== undefined) return relaxed(plainSchema(asked.schema));
  if (isZod3(given)) return relaxed(jsonSchemaOfZod3(given));
  return refused(given, 'it does not tell its JSON Schema');
}

function plainSchema(given: unknown): DerivedSchema {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) {
    const { value, faults } = plainCopy(given);
    const [first, ...rest] = faults;
    return first === undefined ? { schema: value as JsonSchemaObject } : { faults: [first, ...rest] };
  }
  const hint = 'Pass a JSON Schema object, a TypeBox schema, or a schema of a library that follows Standard Schema.';
  return { faults: [{ ...fault(`is ${wordFor(given)}, not a schema`), hint }] };
}

type Asked = { readonly schema: unknown } | { readonly refusal: string };

/** The library's answer; undefined when it offers no conversion. */
function askLibrary(given: unknown, side: SchemaSide): Asked | undefined {
  const converter = membersIn(standardOf(given)?.['jsonSchema'])?.[side];
  if (typeof converter === 'function') {
    const answers = TARGETS.map((target) => attempt(() => converter({ target })));
    return answers.find((answer) => 'schema' in answer) ?? answers[0];
  }
  const members = membersIn(given);
  const convert = members?.['toJSONSchema'] ?? members?.['toJsonSchema'];
  return typeof convert === 'function' ? attempt(() => convert.call(given, { io: side })) : undefined;
}

function attempt(ask: () => unknown): Asked {
  try {
    return { schema: ask() };
  } catch (thrown) {
    return { refusal: `it says: ${messageOf(thrown).slice(0, 300)}` };
  }
}

const relaxed = (derived: DerivedSchema): DerivedSchema =>
  derived.faults === undefined ? { schema: relaxedPatterns(derived.schema) } : derived;

function refused(given: unknown, why: string): DerivedSchema {
  const vendor = standardOf(given)?.['vendor'] ?? (isZod3(given) ? 'zod' : undefined);
  const whose = typeof vendor === 'string' && /^[\w@/.-]{1,60}$/.test(vendor) ? ` of ${vendor}` : '';
  const hint = 'Pass the JSON Schema beside it, for example what z.toJSONSchema(schema) or toJsonSchema(schema) gives.';
  return { faults: [{ ...fault(`is a schema${whose} that gives no JSON Schema; ${why}`), hint }] };
}

const fault = (message: string): Fault => ({ path: '', code: 'E3008', keyword: 'schema', message });

const wordFor = (value: unknown): string =>
  value === null || value === undefined ? String(value) : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
