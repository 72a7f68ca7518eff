import type { PatternJudge } from '../../../../domain/shape/patterns/pattern-judge.ts';
import { asNode, membersOf, type Node } from '../document/json.ts';
import { FORMATS, ONE_SCHEMA, PLAIN, SCHEMA_LIST, SCHEMA_MAP, TYPES } from './keywords.ts';

/** A schema of JSON Schema 2020-12. */
export type Schema = Record<string, unknown>;

/** Context of a conversion. */
export interface Conversion {
  readonly dialect: '3.0' | '3.1';
  /** Requests omit members set only by the service, responses those set only by the caller. */
  readonly direction: 'request' | 'response';
  readonly judgePattern: PatternJudge;
  /**
   * The new `$ref` for a reference; undefined when cut because of a cycle.
   * @throws NotImportable for references that leave the document or lead nowhere
   */
  refer(reference: string, judges: Judged): string | undefined;
}

/** The value that a subschema applies to: that of the definition (directly or as an alternative), or a part of it. */
export type Judged = 'strong' | 'weak' | 'part';

/** Deepest nesting kept; deeper values may be anything. */
const DEPTH_MAX = 48;

/** Converts a schema of the document to JSON Schema 2020-12. Without a usable schema, anything is allowed. */
export function convertSchema(value: unknown, to: Conversion, judges: Judged = 'strong', depth = 0): Schema | boolean {
  if (typeof value === 'boolean') return value;
  const schema = asNode(value);
  if (schema === undefined || depth > DEPTH_MAX) return {};
  const reference = schema['$ref'];
  if (typeof reference === 'string') return referring(schema, reference, to, judges, depth);
  return nullable(schema, keywordsOf(schema, to, judges, depth), to);
}

function referring(schema: Node, reference: string, to: Conversion, judges: Judged, depth: number): Schema {
  const target = to.refer(reference, judges);
  const link: Schema = target === undefined ? {} : { $ref: target };
  // 3.0 ignores siblings of a $ref; 2020-12 does not.
  if (to.dialect === '3.0') return link;
  const { $ref: _, ...beside } = schema;
  return { ...keywordsOf(beside, to, judges, depth), ...link };
}

function keywordsOf(schema: Node, to: Conversion, judges: Judged, depth: number): Schema {
  const converted: Schema = {};
  const notes: string[] = [];
  for (const [keyword, value] of membersOf(schema)) {
    if (PLAIN.get(keyword)?.(value)) converted[keyword] = value;
  }
  typeOf(schema, converted, to);
  limitsOf(schema, converted);
  formatOf(schema, converted, notes, to);
  patternOf(schema, converted, notes, to);
  enumOf(schema, converted);
  subschemas(schema, converted, to, judges, depth);
  requiredOf(schema, converted, to);
  if (notes.length > 0) {
    converted['description'] = [converted['description'], ...notes].filter(Boolean).join(' ');
  }
  return converted;
}

function typeOf(schema: Node, converted: Schema, { dialect }: Conversion): void {
  const given = schema['type'];
  // Swagger 2.0 calls an upload a file; 3.0 a binary string.
  if (given === 'file' || (dialect === '3.0' && given === 'string' && schema['format'] === 'binary')) {
    converted['type'] = 'string';
    converted['contentEncoding'] = 'base64';
    return;
  }
  const types = [...new Set(Array.isArray(given) ? given : [given])].filter((type) => TYPES.has(type));
  if (types.length > 0) converted['type'] = types.length === 1 ? types[0] : types;
}

/** 3.0 writes exclusive limits as flags beside the limit, 2020-12 as separate numbers. */
function limitsOf(schema: Node, converted: Schema): void {
  for (const [exclusive, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const value = schema[exclusive];
    if (typeof value === 'number') converted[exclusive] = value;
    if (value !== true || converted[limit] === undefined) continue;
    converted[exclusive] = converted[limit];
    delete converted[limit];
  }
}

function formatOf(schema: Node, converted: Schema, notes: string[], { direction }: Conversion): void {
  const format = schema['format'];
  // Services are careless with formats in their answers; a result is not refused for that.
  if (typeof format !== 'string' || direction === 'response' || converted['contentEncoding'] === 'base64') return;
  if (FORMATS.has(format)) converted['format'] = format;
  else if (format.length <= 64) notes.push(`Format: ${format}.`);
}

function patternOf(schema: Node, converted: Schema, notes: string[], { judgePattern }: Conversion): void {
  const pattern = schema['pattern'];
  if (typeof pattern !== 'string' || pattern === '') return;
  if (judgePattern(pattern) === undefined) converted['pattern'] = pattern;
  else notes.push(`Must match the pattern ${pattern.slice(0, 256)} (not checked here).`);
}

function enumOf(schema: Node, converted: Schema): void {
  const values = schema['enum'];
  if (!Array.isArray(values) || values.length === 0) return;
  converted['enum'] = [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function subschemas(schema: Node, converted: Schema, to: Conversion, judges: Judged, depth: number): void {
  const convert = (value: unknown, same: boolean, weak = false): Schema | boolean =>
    convertSchema(value, to, same && judges !== 'part' ? (weak ? 'weak' : judges) : 'part', depth + 1);
  for (const [keyword, value] of membersOf(schema)) {
    const one = ONE_SCHEMA.get(keyword);
    if (one !== undefined && (typeof value === 'boolean' || asNode(value) !== undefined)) {
      // A service may add members to its answers without asking.
      if (value === false && to.direction === 'response') continue;
      const part = convert(value, one.same);
      // The rest of a negation with a cut part would refuse everything.
      if (keyword !== 'not' || !acceptsAll(part)) converted[keyword] = part;
    }
    const list = SCHEMA_LIST.get(keyword);
    if (list !== undefined && Array.isArray(value) && value.length > 0) {
      const weak = keyword === 'anyOf' || keyword === 'oneOf';
      const all = value.map((part) => convert(part, list.same, weak));
      // A cut alternative accepts everything, which would make oneOf refuse everything.
      if (weak && all.some(acceptsAll)) continue;
      const parts = keyword === 'allOf' ? all.filter((part) => !acceptsAll(part)) : all;
      if (parts.length > 0) converted[keyword] = parts;
    }
    const map = SCHEMA_MAP.get(keyword);
    if (map !== undefined && asNode(value) !== undefined) {
      converted[keyword] = Object.fromEntries(membersOf(value).map(([name, part]) => [name, convert(part, map.same)]));
    }
    if (keyword === 'patternProperties') {
      const kept = membersOf(value).filter(([pattern]) => to.judgePattern(pattern) === undefined);
      converted[keyword] = Object.fromEntries(kept.map(([pattern, part]) => [pattern, convert(part, false)]));
    }
  }
}

const acceptsAll = (schema: Schema | boolean): boolean =>
  typeof schema === 'object' && Object.keys(schema).length === 0;

/** Drops members set only by the other side: nobody sends a readOnly member, nobody receives a writeOnly one. */
function requiredOf(schema: Node, converted: Schema, { direction }: Conversion): void {
  const required = schema['required'];
  if (!Array.isArray(required)) return;
  const flag = direction === 'request' ? 'readOnly' : 'writeOnly';
  const properties = asNode(schema['properties']) ?? {};
  const names = [...new Set(required)].filter(
    (name) => typeof name === 'string' && asNode(properties[name])?.[flag] !== true,
  );
  if (names.length > 0) converted['required'] = names;
}

/** Converts 3.0's `nullable` to a 2020-12 type. */
function nullable(schema: Node, converted: Schema, { dialect }: Conversion): Schema {
  if (dialect !== '3.0' || (schema['nullable'] !== true && schema['x-nullable'] !== true)) return converted;
  const type = converted['type'];
  if (typeof type === 'string') {
    const values = converted['enum'];
    const withNull = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {};
    return { ...converted, type: [type, 'null'], ...withNull };
  }
  if (type !== undefined || acceptsAll(converted)) return converted;
  const { description, ...rest } = converted;
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: 'null' }] };
}
