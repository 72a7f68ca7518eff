import type { JsonSchemaObject } from '../../api/schemas/identifiers.ts';
import { ArgumentContent } from '../../api/schemas/tool-manifest.ts';
import { isContentName } from './content-names.ts';

/**
 * Kind of content of the argument at a JSON Pointer: as declared by the tool's owner, the more specific place first and
 * then the manifest; else `undeclared`; else `text` for names of content, and `fragment` for all others.
 */
export type ContentAt = (path: string) => ArgumentContent;

/** Levels of an argument, schemas that are looked at, and declarations that are kept. */
const DEPTH_MAX = 16;
const VISITS_MAX = 2_000;
const DECLARED_MAX = 256;

/** Media types by prefix; the first match counts. */
const MEDIA_TYPES: readonly (readonly [RegExp, ArgumentContent])[] = [
  [/^application\/(?:x-)?sql\b/, 'sql'],
  [/^(?:text\/html|text\/xml|application\/(?:xhtml\+)?xml|image\/svg\+xml)\b/, 'html'],
  [/^(?:application|text)\/x-(?:sh|bash|shellscript|csh)\b/, 'command'],
  [/^application\/octet-stream\b/, 'raw'],
  [/^(?:text\/(?:x-|markdown|javascript|css)|application\/(?:x-|javascript|typescript))/, 'code'],
  [/^/, 'text'],
];

/** Allowed values of `x-content`. */
const WORDS: ReadonlySet<string> = new Set(ArgumentContent.enum);

type Segment = string;
type Declaration = readonly [readonly Segment[], ArgumentContent];
/** Any member or element. */
const ANY: Segment = '*';

/**
 * Reads what the schema keyword `x-content`, the standard keyword `contentMediaType` and the manifest's
 * `execution_config.argument_content` say of the arguments of a tool.
 * @param named JSON Pointer, `*` for any member or element, to content
 * @param undeclared content of every place of which nothing is said; absent: by the name of the field
 */
export function argumentContent(
  schema: JsonSchemaObject,
  named: Readonly<Record<string, ArgumentContent>> = {},
  undeclared?: ArgumentContent,
): ContentAt {
  const declared: Declaration[] = [];
  collect({ root: schema, declared, visits: 0 }, schema, []);
  for (const [pointer, content] of Object.entries(named)) declared.unshift([segmentsOf(pointer), content]);
  // Most specific places first.
  declared.sort(([one], [other]) => other.length - one.length);
  return (path) => {
    const segments = segmentsOf(path);
    const said = declared.find(([pattern]) => covers(pattern, segments))?.[1] ?? undeclared;
    return said ?? (isContentName(nameOf(segments)) ? 'text' : 'fragment');
  };
}

/** The last name of a path; list elements have no name of their own. */
const nameOf = (segments: readonly Segment[]): string => segments.findLast((each) => !/^[0-9]+$/.test(each)) ?? '';

interface Walk {
  readonly root: JsonSchemaObject;
  readonly declared: Declaration[];
  visits: number;
}

function collect(walk: Walk, schema: unknown, segments: readonly Segment[]): void {
  if (typeof schema !== 'object' || schema === null) return;
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

/** The target of a reference within the document. */
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
  if (typeof own === 'string' && WORDS.has(own)) return own as ArgumentContent;
  const type = schema['contentMediaType'];
  return typeof type === 'string' ? MEDIA_TYPES.find(([start]) => start.test(type.toLowerCase()))?.[1] : undefined;
}

const segmentsOf = (pointer: string): readonly Segment[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** True when a declaration applies to a place or to something around it. */
function covers(pattern: readonly Segment[], segments: readonly Segment[]): boolean {
  return pattern.length <= segments.length && pattern.every((part, at) => part === ANY || part === segments[at]);
}
