import type { HttpBody, HttpField } from '../../../http-operation.ts';
import { asNode, asText, membersOf, type Node } from '../document/json.ts';
import { follow } from '../document/reference.ts';

/** The body of an operation: its encoding, and the schema of its value. */
export interface OperationBody {
  readonly binding: HttpBody;
  /** Undefined when the document does not state it. */
  readonly schema: unknown;
  /** A schema that replaces the document's, for bodies of plain text. */
  readonly fixed: Node | undefined;
  readonly description: string | undefined;
  readonly required: boolean;
}

/** Content types in order of preference, with their encodings. */
const ENCODINGS: readonly (readonly [RegExp, HttpBody['encoding']])[] = [
  [/^application\/json$/, 'json'],
  [/^(?:application\/[^*]*\+json|text\/json)$/, 'json'],
  [/^application\/x-www-form-urlencoded$/, 'form'],
  [/^multipart\/form-data$/, 'multipart'],
  [/^(?:text\/(?!\*)|application\/(?:[^*]*\+)?(?:xml|yaml|x-yaml|graphql))/, 'text'],
  [/^(?:application\/)?\*\/?\*?$/, 'json'],
  [/./, 'base64'],
];

/** The body of an operation, in the content type that is easiest to write; undefined for none. */
export function bodyOf(operation: Node, root: Node): OperationBody | undefined {
  const body = follow(root, operation['requestBody']);
  const offered = membersOf(body?.['content']);
  if (body === undefined || offered.length === 0) return undefined;
  for (const [matches, encoding] of ENCODINGS) {
    const found = offered.find(([type]) => matches.test(bare(type)));
    if (found === undefined) continue;
    const [type, media] = found;
    const described = follow(root, media);
    return {
      binding: bindingOf(/\*/.test(type) ? 'application/json' : bare(type), encoding, described ?? {}, root),
      schema: described?.['schema'],
      fixed: FIXED[encoding],
      description: asText(body['description']),
      required: body['required'] === true,
    };
  }
  return undefined;
}

const bare = (type: string): string => (type.split(';', 1)[0] ?? '').trim().toLowerCase();

const FIXED: Partial<Record<HttpBody['encoding'], Node>> = {
  text: { type: 'string', description: 'The body as text.' },
  base64: { type: 'string', contentEncoding: 'base64', description: 'The bytes of the body in base64.' },
};

function bindingOf(contentType: string, encoding: HttpBody['encoding'], media: Node, root: Node): HttpBody {
  const binding = { property: 'body', content_type: contentType, encoding };
  if (encoding !== 'form' && encoding !== 'multipart') return binding;
  const fields = fieldsOf(media, root);
  return Object.keys(fields).length === 0 ? binding : { ...binding, fields };
}

function fieldsOf(media: Node, root: Node): Record<string, HttpField> {
  const fields: Record<string, HttpField> = {};
  const schema = follow(root, media['schema']);
  for (const [name, property] of membersOf(schema?.['properties'])) {
    if (isBinary(follow(root, property))) fields[name] = { base64: true };
  }
  for (const [name, value] of membersOf(media['encoding'])) {
    const { style, explode, contentType } = asNode(value) ?? {};
    const written: HttpField = {
      ...fields[name],
      ...(style === 'form' || style === 'spaceDelimited' || style === 'pipeDelimited' || style === 'deepObject'
        ? { style }
        : {}),
      ...(typeof explode === 'boolean' ? { explode } : {}),
      ...(typeof contentType === 'string' && /^[\w.+/-]{1,255}$/.test(contentType)
        ? { content_type: contentType }
        : {}),
    };
    if (Object.keys(written).length > 0) fields[name] = written;
  }
  return fields;
}

function isBinary(schema: Node | undefined): boolean {
  if (schema === undefined) return false;
  if (schema['type'] === 'array') return isBinary(asNode(schema['items']));
  return schema['format'] === 'binary' || schema['type'] === 'file' || schema['contentEncoding'] === 'base64';
}
