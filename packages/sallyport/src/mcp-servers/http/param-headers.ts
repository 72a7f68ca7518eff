import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { ToolListing } from '../connection/link.ts';

/** An argument that is repeated as an HTTP header (protocol 2026-07-28, streamable HTTP, `x-mcp-header`). */
export interface ParamHeader {
  readonly header: string;
  readonly path: readonly string[];
}

const MARK = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Space to tilde, and tabs: characters that an HTTP field value may contain unencoded. */
const PLAIN = /^[\t\x20-\x7e]+$/;
/** Types with exactly one header form; `number` has several. */
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
const PLACE_CHARS_MAX = 200;
const REASON_CHARS_MAX = 300;
/** Most entries of a list reported as invalid. */
const MALFORMED_MAX = 100;
/** Keywords other than `properties` that contain schemas, by form: one schema or a list, or schemas by name. */
const SCHEMA_WORDS = [
  'items',
  'prefixItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
] as const;
const NAMED_SCHEMA_WORDS = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'] as const;

/**
 * The headers that a tool's input schema asks for (most ask for none), or the fault in its request: such a tool is
 * invalid for a client over HTTP (2026-07-28, streamable HTTP, schema extension). Listed definitions are limited in
 * depth.
 */
function paramHeadersOf({ inputSchema }: ListedMcpTool): readonly ParamHeader[] | string {
  const found: ParamHeader[] = [];
  const names = new Set<string>();
  const faultIn = (schema: unknown, path: readonly string[], isProperty: boolean): string | undefined => {
    if (typeof schema !== 'object' || schema === null) return undefined;
    const given = schema as Readonly<Record<string, unknown>>;
    if (MARK in given) {
      const { [MARK]: name, type } = given;
      const fault = isProperty ? faultOf(name, type, names) : 'only a property may have it, below properties alone';
      if (fault !== undefined) return `${MARK} at /${path.join('/')}: ${fault}`;
      names.add(String(name).toLowerCase());
      found.push({ header: `Mcp-Param-${String(name)}`, path });
    }
    for (const [key, inner, within] of schemasIn(given)) {
      const fault = faultIn(inner, [...path, key], within && (isProperty || path.length === 0));
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  return faultIn(inputSchema, [], false) ?? found;
}

function faultOf(name: unknown, type: unknown, names: ReadonlySet<string>): string | undefined {
  if (typeof name !== 'string' || !TOKEN.test(name)) return 'it must be a name that a header may have';
  if (!TYPES.has(type)) return 'the type of its property must be string, integer or boolean';
  return names.has(name.toLowerCase())
    ? 'another property has the same name, upper and lower case set aside'
    : undefined;
}

/** Schemas inside a schema, by name; and whether each is a property. */
function* schemasIn(schema: Readonly<Record<string, unknown>>): Generator<[string, unknown, boolean]> {
  for (const [key, inner] of Object.entries(objectOf(schema['properties']))) yield [key, inner, true];
  for (const word of SCHEMA_WORDS) {
    const inner = schema[word];
    for (const each of Array.isArray(inner) ? inner : [inner]) yield [word, each, false];
  }
  for (const word of NAMED_SCHEMA_WORDS) {
    for (const inner of Object.values(objectOf(schema[word]))) yield [word, inner, false];
  }
}

const objectOf = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

/** The tools of a listing with their headers; tools with a faulty request are reported as malformed. */
export function takeParamHeaders({ tools, malformed }: ToolListing): {
  readonly listing: ToolListing;
  readonly headers: ReadonlyMap<string, readonly ParamHeader[]>;
} {
  const headers = new Map<string, readonly ParamHeader[]>();
  const faults: ToolListing['malformed'][number][] = [];
  const good = tools.filter((tool) => {
    const asked = paramHeadersOf(tool);
    const place = tool.name.slice(0, PLACE_CHARS_MAX);
    if (typeof asked === 'string') faults.push({ place, reason: asked.slice(0, REASON_CHARS_MAX) });
    else if (asked.length > 0) headers.set(tool.name, asked);
    return typeof asked !== 'string';
  });
  return { listing: { tools: good, malformed: [...malformed, ...faults].slice(0, MALFORMED_MAX) }, headers };
}

/** The headers for these arguments. Values that are absent, null, or no text, number or boolean have none. */
export function headersFor(
  declared: readonly ParamHeader[],
  args: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { header, path } of declared) {
    let value: unknown = args;
    for (const key of path) {
      value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
    }
    const sendable = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
    if (sendable) headers[header] = encode(String(value));
  }
  return headers;
}

function encode(text: string): string {
  const plain = PLAIN.test(text) && text === text.trim() && !(text.startsWith('=?base64?') && text.endsWith('?='));
  return plain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
