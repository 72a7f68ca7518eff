import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import { META_DOCUMENTS } from './meta/meta-documents.ts';

/** Schema documents that a reference may name because the layer has them; by absolute address without fragment. */
export type KnownDocuments = ReadonlyMap<string, JsonSchemaObject>;

let official: KnownDocuments | undefined;

/**
 * The meta-schemas of the supported dialects, which ship with the layer: a tool that takes a schema as an argument may
 * refer to them. Everything else that stands outside a document is unknown, and nothing is fetched (VAL-05).
 */
export function officialDocuments(): KnownDocuments {
  official ??= new Map(
    Object.values(META_DOCUMENTS)
      .flat()
      .map((schema) => [addressOf(String(schema['$id'])), schema]),
  );
  return official;
}

/** An address as documents are known by: absolute, without fragment. */
export function addressOf(uri: string): string {
  const address = URL.parse(uri);
  if (address === null) return uri;
  address.hash = '';
  return address.href;
}
