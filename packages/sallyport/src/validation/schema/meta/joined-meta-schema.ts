import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import type { Dialect } from '../dialect.ts';
import { META_DOCUMENTS } from './meta-documents.ts';

/**
 * The meta-schema of a dialect as one self-contained document. The official ones of 2019-09 and 2020-12 are several,
 * linked by dynamic references, which only matter to meta-schemas that extend them. Without formats, which are
 * annotations there but would be enforced by a quick validator.
 */
export function joinedMetaSchema(dialect: Dialect): JsonSchemaObject {
  const documents = META_DOCUMENTS[dialect];
  return {
    type: ['object', 'boolean'],
    properties: membersOf(documents, 'properties'),
    $defs: membersOf(documents, '$defs'),
    definitions: membersOf(documents, 'definitions'),
  };
}

/** The members that the documents have under one name, with references that stay inside. */
function membersOf(documents: readonly JsonSchemaObject[], name: string): JsonSchemaObject {
  return withinOne(Object.assign({}, ...documents.map((document) => document[name]))) as JsonSchemaObject;
}

const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

/** A part of some document has the same place in the joined one; everything else is a schema as a whole. */
const inside = (reference: string): string => /#\/.*/.exec(reference)?.[0] ?? '#';

/** `properties` describes keywords, so a member named like one holds a schema there and no text. */
function withinOne(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withinOne);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => {
      if (typeof value !== 'string') return [[key, withinOne(value)]];
      if (key === 'format') return [];
      return [REFERENCES.has(key) ? ['$ref', inside(value)] : [key, value]];
    }),
  );
}
