import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';

/** Place of the tool's own schema in ours, as a JSON Pointer. */
const PLACE = '/properties/structuredContent';
/** Members with values, not schemas; a `$ref` in them is data. */
const VALUES = new Set(['const', 'enum', 'default', 'examples', 'example']);

/**
 * Schema of the whole `CallToolResult` of a tool that declares the form of its structured content. References inside
 * the declared schema are adjusted; its dialect becomes that of the whole.
 */
export function resultSchemaOf(outputSchema: Readonly<Record<string, unknown>>): JsonSchemaObject {
  const { $schema, ...declared } = outputSchema;
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: 'object',
    required: ['content'],
    properties: { content: { type: 'array' }, structuredContent: moved(declared) },
  };
}

function moved(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(moved);
  if (typeof schema !== 'object' || schema === null) return schema;
  // A schema with an `$id` is a document of its own, wherever it is placed.
  if ('$id' in schema && typeof schema.$id === 'string') return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === '$ref' && typeof value === 'string') return [key, movedReference(value)];
      return [key, VALUES.has(key) ? value : moved(value)];
    }),
  );
}

function movedReference(reference: string): string {
  return reference === '#' || reference.startsWith('#/') ? `#${PLACE}${reference.slice(1)}` : reference;
}
