import type { Fault } from '../../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import { jsonSchemaOf } from '../../foreign/schemas/json-schema-of.ts';
import { relaxedPatterns } from '../../foreign/schemas/relaxed-patterns.ts';

/** Argument under which the input of a tool travels that takes no object; LangChain calls it so too. */
export const SINGLE_ARGUMENT = 'input';

/** The schema of one object of arguments. */
export interface ArgumentSchema {
  readonly schema: JsonSchemaObject;
  /** The tool itself takes the value of {@link SINGLE_ARGUMENT}, not the object. */
  readonly single: boolean;
}

/** The schema of a LangChain tool as a tool here needs it: arguments are always one object. Empty when it takes none. */
export function argumentSchema(given: unknown): ArgumentSchema | readonly Fault[] {
  if (given === undefined) return { schema: { type: 'object', properties: {} }, single: false };
  const parsed = typeof given === 'string' ? fromText(given) : given;
  const derived = jsonSchemaOf(parsed, 'input');
  if (derived.faults !== undefined) return derived.faults;
  const schema = relaxedPatterns(derived.schema);
  const { type } = schema;
  if (type === 'object') return { schema, single: false };
  // A schema that names no type, or a reference: what it says of an object stays true.
  if (type === undefined || (Array.isArray(type) && type.includes('object'))) {
    return { schema: { ...schema, type: 'object' }, single: false };
  }
  return { schema: wrapped(schema), single: true };
}

/** Dialect and definitions belong to the root, wherever the schema stands. */
function wrapped({ $schema, $defs, definitions, ...schema }: JsonSchemaObject): JsonSchemaObject {
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: 'object',
    properties: { [SINGLE_ARGUMENT]: schema },
    required: [SINGLE_ARGUMENT],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

/** Some programs write the schema as JSON text; what is none stays text and is refused as such. */
function fromText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
