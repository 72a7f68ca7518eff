import { isObject } from '../../../domain/shape/is-object.ts';
import type { HideSecrets } from '../../../external/hide-secrets.ts';
import type { AnswerHead } from '../../../external/outbound-http.ts';
import type { ExecutorCall } from '../../executor.port.ts';
import type { RequestPlan } from '../request/plan.ts';

/** What an answer says about its following pages. */
export interface Pagination {
  /** Arguments that ask for the next page, merged over those of this call. */
  readonly next_arguments?: Readonly<Record<string, string | number>>;
  readonly next_url?: string;
  readonly next_cursor?: string;
  readonly has_more?: boolean;
  /** Entries in all. */
  readonly total?: number;
}

/** The parts of an answer that are searched. */
export interface PagedAnswer {
  readonly answer: AnswerHead;
  /** Parsed, without secrets. */
  readonly body: unknown;
  readonly url: URL;
  readonly plan: RequestPlan;
  readonly call: Pick<ExecutorCall, 'tool' | 'parameters'>;
  readonly hide: HideSecrets;
}

/** Longest cursor or URL passed on, in characters. */
const VALUE_CHARS_MAX = 2048;
const LINK_CHARS_MAX = 8192;
const FOLDERS =
  /^(?:meta|metadata|pagination|paging|page_?info|links|_links|response_metadata|cursors?|page|@?search\.?nextpage)$/i;
const NEXT_URL = /^(?:next|next_?(?:url|link|uri|href|page_?url)|@odata\.nextlink|@nextlink)$/i;
const NEXT_CURSOR =
  /^(?:next|after|next_?(?:cursor|page|page_?token|token|marker|page_?id)|continuation(?:_?token)?|end_?cursor|marker)$/i;
const HAS_MORE = /^(?:has_?more|has_?next(?:_?page)?|is_?truncated|more)$/i;
const TOTAL = /^(?:total|total_?(?:count|items|results|elements)|count_?total)$/i;
/** Parameters that accept a cursor. */
const CURSOR_PARAMETER =
  /^(?:cursor|after|page_?token|next_?(?:cursor|token|page_?token)|continuation(?:_?token)?|marker)$/i;

/**
 * How to ask for the next page: from `Link` (RFC 8288), and from common names in JSON bodies. A hint for the reader of
 * the result; nothing is followed automatically.
 */
export function paginationOf(paged: PagedAnswer): Pagination | undefined {
  const found = { ...inBody(paged.body), ...inHeaders(paged.answer, paged.hide) };
  const next = found.nextUrl === undefined ? undefined : (URL.parse(found.nextUrl, paged.url.href) ?? undefined);
  const isOver = found.hasMore === false;
  const nextArguments = isOver ? undefined : argumentsFor(paged, next, found.nextCursor);
  const pagination: Pagination = {
    ...(nextArguments === undefined ? {} : { next_arguments: nextArguments }),
    ...(next === undefined || isOver ? {} : { next_url: paged.hide(next.href) }),
    ...(found.nextCursor === undefined || isOver ? {} : { next_cursor: String(found.nextCursor) }),
    ...(found.hasMore === undefined ? {} : { has_more: found.hasMore }),
    ...(found.total === undefined ? {} : { total: found.total }),
  };
  const says = pagination.next_url ?? pagination.next_cursor ?? pagination.has_more;
  return says === undefined ? undefined : pagination;
}

interface Found {
  nextUrl?: string;
  nextCursor?: string | number;
  hasMore?: boolean;
  total?: number;
}

function inHeaders({ headers }: AnswerHead, hide: HideSecrets): Found {
  const next =
    typeof headers['link'] === 'string' ? nextLink(hide(headers['link'].slice(0, LINK_CHARS_MAX))) : undefined;
  const total = Number(headers['x-total-count'] ?? Number.NaN);
  return {
    ...(next === undefined ? {} : { nextUrl: next }),
    ...(Number.isSafeInteger(total) && total >= 0 ? { total } : {}),
  };
}

/** RFC 8288 §3: `<target>; rel="next"; …, <target> …`; a relation may be one of several in the quotes. */
function nextLink(header: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(/<([^<>]*)>([^<]*)/g)) {
    const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters);
    if ((relations?.[1] ?? relations?.[2])?.toLowerCase().split(/\s+/).includes('next') === true) return target;
  }
  return undefined;
}

function inBody(body: unknown): Found {
  if (!isObject(body)) return {};
  const found: Found = {};
  // Members nearer to the root win.
  look(body, found, 2);
  return found;
}

function look(body: Record<string, unknown>, found: Found, levels: number): void {
  for (const [name, value] of Object.entries(body)) read(name, value, found);
  if (levels === 0) return;
  for (const [name, value] of Object.entries(body))
    if (FOLDERS.test(name) && isObject(value)) look(value, found, levels - 1);
}

function read(name: string, given: unknown, found: Found): void {
  // HAL and JSON:API write a link as an object.
  const value = isObject(given) && NEXT_URL.test(name) ? given['href'] : given;
  const isText = typeof value === 'string' && value !== '' && value.length <= VALUE_CHARS_MAX;
  if (isText && NEXT_URL.test(name) && /^(?:https?:\/\/|[/?])/i.test(value)) found.nextUrl ??= value;
  else if (NEXT_CURSOR.test(name) && (isText || Number.isSafeInteger(value)))
    found.nextCursor ??= value as string | number;
  else if (HAS_MORE.test(name) && typeof value === 'boolean') found.hasMore ??= value;
  else if (TOTAL.test(name) && typeof value === 'number') found.total ??= value;
}

/** The next page in the tool's own arguments, when the query of the next URL or the cursor fits them. */
function argumentsFor(
  { plan, url, call }: PagedAnswer,
  next: URL | undefined,
  cursor: string | number | undefined,
): Record<string, string | number> | undefined {
  const scalars = plan.parameters.filter(({ in: place, json }) => place === 'query' && json !== true);
  const given: Record<string, string | number> = {};
  if (next !== undefined && next.origin === url.origin && next.pathname === url.pathname) {
    for (const { name, property } of scalars) {
      const values = next.searchParams.getAll(name);
      const [value] = values;
      if (values.length !== 1 || value === undefined || value === url.searchParams.get(name)) continue;
      given[property] = typed(value, property, call);
    }
  } else if (cursor !== undefined) {
    const [only, ...others] = scalars.filter(({ name }) => CURSOR_PARAMETER.test(name) || /^page$/i.test(name));
    if (only !== undefined && others.length === 0) given[only.property] = typed(String(cursor), only.property, call);
  }
  return Object.keys(given).length === 0 ? undefined : given;
}

function typed(value: string, property: string, { tool, parameters }: PagedAnswer['call']): string | number {
  const schemas = tool.manifest.parameters_schema as { readonly properties?: Record<string, unknown> };
  const schema = schemas.properties?.[property];
  const type = isObject(schema) ? schema['type'] : undefined;
  const isNumber = type === 'integer' || type === 'number' || typeof parameters[property] === 'number';
  return isNumber && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}
