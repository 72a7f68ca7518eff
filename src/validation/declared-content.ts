import type { JsonSchemaObject } from '../../api/schemas/identifiers.ts';
import type { ArgumentContent } from '../../api/schemas/tool-manifest.ts';
import type { Threat } from '../detectors/sanitise.ts';

/** What the owner of a tool says that some of its arguments hold; the more exact place wins, then the manifest. */
export interface DeclaredContent {
  /** Threats that are no threats where this JSON Pointer leads: SQL in a field for SQL. Empty for all other places. */
  exemptAt(path: string): ReadonlySet<Threat>;
  /** Whether the text there may hold control characters. */
  isRaw(path: string): boolean;
}

/** Levels of an argument, schemas that are looked at, and declarations that are kept. */
const DEPTH_MAX = 16;
const VISITS_MAX = 2_000;
const DECLARED_MAX = 256;

const EVERY: readonly Threat[] = ['sql_injection', 'xss', 'command_injection'];
const EXEMPT: Readonly<Record<ArgumentContent, ReadonlySet<Threat>>> = {
  text: new Set(),
  sql: new Set(['sql_injection']),
  html: new Set(['xss']),
  command: new Set(['command_injection']),
  code: new Set(EVERY),
  raw: new Set(EVERY),
};
const NOTHING: ReadonlySet<Threat> = new Set();

/** Media types by their beginning, the first that fits. */
const MEDIA_TYPES: readonly (readonly [RegExp, ArgumentContent])[] = [
  [/^application\/(?:x-)?sql\b/, 'sql'],
  [/^(?:text\/html|text\/xml|application\/(?:xhtml\+)?xml|image\/svg\+xml)\b/, 'html'],
  [/^(?:application|text)\/x-(?:sh|bash|shellscript|csh)\b/, 'command'],
  [/^application\/octet-stream\b/, 'raw'],
  [/^(?:text\/(?:x-|markdown|javascript|css)|application\/(?:x-|javascript|typescript))/, 'code'],
];

type Segment = string;
type Declaration = readonly [readonly Segment[], ArgumentContent];
/** Any member or element. */
const ANY: Segment = '*';

/**
 * What the schema keyword `x-content` (`text`, `sql`, `html`, `command`, `code` or `raw`), the standard keyword
 * `contentMediaType` and the manifest's `execution_config.argument_content` declare.
 * @param named JSON Pointer, `*` for any member or element, to content
 * @returns undefined when nothing is declared, which is the common case
 */
export function declaredContent(
  schema: JsonSchemaObject,
  named: Readonly<Record<string, ArgumentContent>> = {},
): DeclaredContent | undefined {
  const declared: Declaration[] = [];
  collect({ root: schema, declared, visits: 0 }, schema, []);
  for (const [pointer, content] of Object.entries(named)) declared.unshift([segmentsOf(pointer), content]);
  if (declared.length === 0) return undefined;
  // The place that is named most exactly first.
  declared.sort(([one], [other]) => other.length - one.length);
  const contentAt = (path: string): ArgumentContent | undefined => {
    const segments = segmentsOf(path);
    return declared.find(([pattern]) => covers(pattern, segments))?.[1];
  };
  return {
    exemptAt(path) {
      const content = contentAt(path);
      return content === undefined ? NOTHING : EXEMPT[content];
    },
    isRaw: (path) => contentAt(path) === 'raw',
  };
}

interface Walk {
  readonly root: JsonSchemaObject;
  readonly declared: Declaration[];
  visits: number;
}

function collect(walk: Walk, schema: unknown, segments: readonly Segment[]): void {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return;
  if (segments.length > DEPTH_MAX || walk.declared.length >= DECLARED_MAX || ++walk.visits > VISITS_MAX) return;
  const held = schema as Readonly<Record<string, unknown>>;
  const content = contentOf(held);
  if (content !== undefined) walk.declared.push([segments, content]);
  for (const [name, member] of Object.entries((held['properties'] as object | undefined) ?? {}))
    collect(walk, member, [...segments, name]);
  for (const keyword of ['items', 'additionalProperties']) collect(walk, held[keyword], [...segments, ANY]);
  for (const keyword of ['prefixItems', 'items'])
    for (const [index, item] of listOf(held[keyword]).entries()) collect(walk, item, [...segments, String(index)]);
  for (const keyword of ['allOf', 'anyOf', 'oneOf'])
    for (const part of listOf(held[keyword])) collect(walk, part, segments);
  if (typeof held['$ref'] === 'string') collect(walk, definitionAt(walk.root, held['$ref']), segments);
}

/** What a reference within the document leads to. */
function definitionAt(root: JsonSchemaObject, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  return segmentsOf(reference).reduce<unknown>(
    (found, segment) =>
      typeof found === 'object' && found !== null && Object.hasOwn(found, segment)
        ? (found as Record<string, unknown>)[segment]
        : undefined,
    root,
  );
}

const listOf = (held: unknown): readonly unknown[] => (Array.isArray(held) ? held : []);

function contentOf(schema: Readonly<Record<string, unknown>>): ArgumentContent | undefined {
  const own = schema['x-content'];
  if (typeof own === 'string' && Object.hasOwn(EXEMPT, own)) return own as ArgumentContent;
  const type = schema['contentMediaType'];
  return typeof type === 'string' ? MEDIA_TYPES.find(([start]) => start.test(type.toLowerCase()))?.[1] : undefined;
}

const segmentsOf = (pointer: string): readonly Segment[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Whether a declaration is for a place or for something around it. */
function covers(pattern: readonly Segment[], segments: readonly Segment[]): boolean {
  return pattern.length <= segments.length && pattern.every((part, at) => part === ANY || part === segments[at]);
}
