import type { SideEffectPolicy, ToolManifest } from '../../../../../api/schemas/tool-manifest.ts';
import { DOCUMENTS_KEYWORD } from '../../../../domain/document/document-parameter.ts';
import { isFitting } from '../../../foreign/property-names/fitting-names.ts';
import { fittingSchema, withOriginal } from '../../../foreign/property-names/rename-properties.ts';
import type { HttpOperation } from '../../../http-operation.ts';
import { asList, asText, type Node } from '../document/json.ts';
import type { OpenApiDocument } from '../document/parse-document.ts';
import type { Schema } from '../schemas/convert-schema.ts';
import type { SchemaConverter } from '../schemas/definitions.ts';
import type { SchemaMeasure } from '../schemas/measure.ts';
import { described, type OperationParameter, parametersOf } from './parameters.ts';
import { bodyOf, type OperationBody } from './request-body.ts';
import { resultOf } from './result-schema.ts';
import { authOf, tokenServersOf } from './security.ts';
import { type Server, serverOf } from './servers.ts';

/** Longest description kept, in characters: a model reads it at every turn. */
const DESCRIPTION_CHARS_MAX = 4096;
const NAME_CHARS_MAX = 255;
const TAGS_MAX = 64;
const TAG_CHARS_MAX = 64;

/** One operation of a document. */
export interface Operation {
  readonly method: string;
  /** The path as the document names it, which may end with a fragment. */
  readonly place: string;
  /** The path for requests, with `{name}` for each path parameter. */
  readonly template: string;
  readonly node: Node;
  readonly path: Node;
}

/** Parts shared by all operations of a document. */
export interface ImportContext {
  readonly document: OpenApiDocument;
  readonly schemas: SchemaConverter;
  readonly charsOf: SchemaMeasure;
  readonly source: string;
  readonly version: string;
  /** Replaces the document's servers. */
  readonly server: Server | undefined;
}

/** RFC 9110 §9.2: safe methods change nothing, PUT and DELETE may be repeated. */
const SIDE_EFFECT: Readonly<Record<string, SideEffectPolicy>> = {
  GET: 'pure',
  HEAD: 'pure',
  OPTIONS: 'pure',
  QUERY: 'pure',
  PUT: 'idempotent',
  DELETE: 'idempotent',
};

/** Tag of operations that are registered but cannot be called. */
const NOT_CALLABLE = 'not-callable';

/** Methods that no client should send (RFC 9110 §9.3.8). */
const NEVER_SENT: Readonly<Record<string, string>> = { TRACE: 'TRACE sends the credentials back in the answer' };

/**
 * One operation as a manifest.
 * @throws NotImportable with the reason when the operation cannot be called
 */
export function operationManifest(operation: Operation, toolId: string, context: ImportContext): ToolManifest {
  const { method, template, node, path } = operation;
  const { root } = context.document;
  const server = context.server ?? serverOf(node, path, root);
  const body = bodyOf(node, root);
  const parameters = parametersOf(node, path, template, root, body !== undefined);
  const { auth, notCallable = NEVER_SENT[method] } = authOf(node, root, context.source);
  const result = resultOf(node, root, context.schemas);
  const { schema, binding } = fittingSchema(parametersSchema(parameters, body, context.schemas));
  const credentials = [...new Set(auth.map(({ secret }) => secret))];
  const config: HttpOperation = {
    base_url: server.baseUrl,
    method: method as HttpOperation['method'],
    path: template,
    ...(parameters.length === 0 ? {} : { parameters: parameters.map(({ binding }) => binding) }),
    ...(body === undefined ? {} : { body: body.binding }),
    ...(auth.length === 0 ? {} : { auth: [...auth] }),
    ...(result === undefined ? {} : { accept: result.accept }),
    ...(notCallable === undefined ? {} : { not_callable: notCallable }),
  };
  return {
    tool_id: toolId,
    tool_name: nameOf(operation),
    version: context.version,
    description: descriptionOf(operation, notCallable),
    category: 'external_api',
    ...tagsOf(node, notCallable),
    parameters_schema: schema,
    ...(result === undefined ? {} : { result_schema: result.schema }),
    permissions: {
      network: addressesOf(server, tokenServersOf(auth)),
      ...(credentials.length === 0 ? {} : { credentials }),
    },
    side_effect_policy: SIDE_EFFECT[method] ?? 'irreversible',
    executor: { kind: 'http', ...binding, config: { ...config } },
  };
}

/** The server, and the token servers with other addresses. */
function addressesOf({ host, port }: Server, more: readonly { host: string; port: number }[]) {
  const isOther = (one: { host: string; port: number }): boolean => one.host !== host || one.port !== port;
  return [{ host, port }, ...more.filter(isOther)];
}

const isMarked = (schema: Schema | boolean | undefined): boolean =>
  typeof schema === 'object' && schema[DOCUMENTS_KEYWORD] === true;

function parametersSchema(
  parameters: readonly OperationParameter[],
  body: OperationBody | undefined,
  schemas: SchemaConverter,
): Schema {
  const properties: Record<string, Schema | boolean> = {};
  const needed = new Set<string>();
  const add = (name: string, schema: unknown, description: string | undefined): void => {
    const converted = schemas.convert(schema ?? {}, 'request');
    for (const pointer of converted.pointers) needed.add(pointer);
    properties[name] = described(converted.schema, description);
  };
  for (const { binding, schema, description } of parameters) {
    const { property, name } = binding;
    add(property, schema, isFitting(name) ? description : withOriginal(description, name));
  }
  if (body !== undefined) add('body', body.fixed ?? body.schema, body.description);
  const required = parameters.filter((parameter) => parameter.required).map(({ binding }) => binding.property);
  if (body?.required === true) required.push('body');
  // The layer sets the parameter for documents, so no caller has to.
  const byCaller = required.filter((name) => !isMarked(properties[name]));
  const definitions = schemas.definitions(needed, 'request');
  return {
    type: 'object',
    properties,
    ...(byCaller.length === 0 ? {} : { required: byCaller }),
    additionalProperties: false,
    ...(definitions === undefined ? {} : { $defs: definitions }),
  };
}

function nameOf({ node, method, template }: Operation): string {
  return (asText(node['summary']) ?? asText(node['operationId']) ?? `${method} ${template}`)
    .trim()
    .slice(0, NAME_CHARS_MAX);
}

function descriptionOf({ node, path, method, template }: Operation, notCallable: string | undefined): string {
  const summary = asText(node['summary']) ?? asText(path['summary']);
  const description = asText(node['description']) ?? asText(path['description']);
  const parts = [summary, description === summary ? undefined : description].filter((part) => part !== undefined);
  const said = parts.length === 0 ? `${method} ${template}` : parts.map((part) => part.trim()).join('\n\n');
  const text = notCallable === undefined ? said : `Cannot be called here: ${notCallable}.\n\n${said}`;
  return text.length <= DESCRIPTION_CHARS_MAX ? text : `${text.slice(0, DESCRIPTION_CHARS_MAX - 1)}…`;
}

function tagsOf(node: Node, notCallable: string | undefined): { tags?: string[] } {
  const tags = asList(node['tags']).filter(
    (tag): tag is string => asText(tag) !== undefined && String(tag).length <= TAG_CHARS_MAX,
  );
  if (notCallable !== undefined) tags.unshift(NOT_CALLABLE);
  return tags.length === 0 ? {} : { tags: [...new Set(tags)].slice(0, TAGS_MAX) };
}
