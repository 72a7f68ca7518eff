import type { Fault } from '../../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import { jsonSchemaOf } from '../../foreign/schemas/json-schema-of.ts';
import { relaxedPatterns } from '../../foreign/schemas/relaxed-patterns.ts';

/** Argument that carries the input of a tool that takes no object; LangChain's name for it too. */
export const SINGLE_ARGUMENT = 'input';

/** Schema of an object of arguments. */
export interface ArgumentSchema {
  readonly schema: JsonSchemaObject;
  /** True when the tool itself takes the value of {@link SINGLE_ARGUMENT}, not the object. */
  readonly single: boolean;
}

/** Converts a LangChain tool's schema: arguments are always one object here. Empty when it takes none. */
export function argumentSchema(given: unknown): ArgumentSchema | readonly Fault[] {
  if (given === undefined) return { schema: { type: 'object', properties: {} }, single: false };
  const parsed = typeof given === 'string' ? fromText(given) : given;
  const derived = jsonSchemaOf(parsed, 'input');
  if (derived.faults !== undefined) return derived.faults;
  const schema = relaxedPatterns(derived.schema);
  const { type } = schema;
  if (type === 'object') return { schema, single: false };
  // A schema without a type, or a reference: its statements about an object stay valid.
  if (type === undefined || (Array.isArray(type) && type.includes('object'))) {
    return { schema: { ...schema, type: 'object' }, single: false };
  }
  return { schema: wrapped(schema), single: true };
}

/** Dialect and definitions belong at the root, wherever the schema is placed. */
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

/** Some programs write the schema as JSON text; invalid JSON stays text and is refused. */
function fromText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
