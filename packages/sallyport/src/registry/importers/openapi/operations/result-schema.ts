import { membersOf, type Node } from '../document/json.ts';
import { NotImportable } from '../document/not-importable.ts';
import { follow } from '../document/reference.ts';
import type { Schema } from '../schemas/convert-schema.ts';
import type { SchemaConverter } from '../schemas/definitions.ts';

/** Successful answer of an operation. */
export interface OperationResult {
  /** Schema of the tool's result: status, some headers, and the body as the document describes it. */
  readonly schema: Schema;
  /** JSON types to request, since the service may offer others too. */
  readonly accept: string;
}

/**
 * Undefined when a successful answer may be something other than JSON, or when its schema cannot be followed: results
 * may always be unchecked.
 */
export function resultOf(operation: Node, root: Node, schemas: SchemaConverter): OperationResult | undefined {
  try {
    const { types, bodies } = jsonAnswers(operation, root);
    if (bodies === undefined || bodies.size === 0) return undefined;
    return { schema: wrapped([...bodies.values()], schemas), accept: [...types].join(', ') };
  } catch (thrown) {
    if (thrown instanceof NotImportable) return undefined;
    throw thrown;
  }
}

function wrapped(bodies: readonly unknown[], schemas: SchemaConverter): Schema {
  const converted = bodies.map((schema) => schemas.convert(schema, 'response'));
  const needed = converted.reduce<ReadonlySet<string>>((all, { pointers }) => all.union(pointers), new Set());
  const definitions = schemas.definitions(needed, 'response');
  const [only] = converted;
  const body = converted.length === 1 ? only?.schema : { anyOf: converted.map(({ schema }) => schema) };
  return {
    type: 'object',
    properties: { status: { type: 'integer' }, headers: { type: 'object' }, body: body ?? {} },
    required: ['status'],
    ...(definitions === undefined ? {} : { $defs: definitions }),
  };
}

/** Types and schemas of the JSON bodies of 2xx answers, each once; no schemas when an answer declares none. */
function jsonAnswers(operation: Node, root: Node): { types: Set<string>; bodies: Map<string, unknown> | undefined } {
  const types = new Set<string>();
  const bodies = new Map<string, unknown>();
  for (const [status, value] of membersOf(operation['responses'])) {
    const content = /^2(?:\d\d|XX)$/i.test(status) ? membersOf(follow(root, value)?.['content']) : [];
    const json = content.filter(([type]) => /^application\/(?:[^;*]*\+)?json\s*(?:;|$)/i.test(type));
    if (content.length > 0 && json.length === 0) return { types, bodies: undefined };
    for (const [type, media] of json) {
      const schema = follow(root, media)?.['schema'];
      if (schema === undefined) return { types, bodies: undefined };
      types.add((type.split(';', 1)[0] ?? '').trim());
      bodies.set(JSON.stringify(schema), schema);
    }
  }
  return { types, bodies };
}
