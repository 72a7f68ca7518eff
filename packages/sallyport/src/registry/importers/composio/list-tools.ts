import { MiB } from '@sallyport/std/bytes';
import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { boundedBody } from '@sallyport/std/web/bounded-body';
import type { ComposioLister, ComposioListing } from '../../importer.port.ts';

/** Default address of Composio's API. */
export const COMPOSIO_BASE_URL = 'https://backend.composio.dev/api/v3';

/** Tools of one page; the API allows 1 000. */
const PAGE_TOOLS = 200;
/** Most pages requested; beyond that the list counts as endless. */
const PAGES_MAX = 50;
const PAGE_BYTES_MAX = 16 * MiB;
const SAID_CHARS_MAX = 300;
const RETRY_AFTER_MS_MAX = 86_400_000;

/** Asks Composio for its tools, page by page; see {@link ComposioLister}. */
export const listComposioTools: ComposioLister = async (listing) => {
  const tools: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await pageOf(listing, cursor);
    tools.push(...page.items);
    cursor = page.next;
    // A repeated cursor would loop.
    if (cursor === undefined || seen.has(cursor)) return tools;
    seen.add(cursor);
  }
  return tools;
};

interface Page {
  readonly items: readonly unknown[];
  readonly next: string | undefined;
}

async function pageOf(listing: ComposioListing, cursor: string | undefined): Promise<Page> {
  const { fetch, apiKey, baseUrl = COMPOSIO_BASE_URL, signal } = listing;
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/tools`);
  const query = {
    limit: String(PAGE_TOOLS),
    include_deprecated: 'false',
    toolkit_versions: 'latest',
    toolkit_slug: listing.toolkit,
    tool_slugs: listing.slugs?.join(','),
    search: listing.search,
    cursor,
  };
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  let text: string;
  let response: Response | undefined;
  try {
    response = await fetch(url, {
      headers: { 'x-api-key': apiKey, accept: 'application/json' },
      signal,
      redirect: 'error',
    });
    // The service may echo the key; its texts go into manifests and errors.
    text = (await textOf(response)).replaceAll(apiKey, '[hidden]');
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (cause instanceof ToolLayerError) throw cause;
    const what = response === undefined ? 'cannot be reached' : 'broke its answer off';
    throw new ToolLayerError('E3310', `Composio at ${url.host} ${what}.`, { cause });
  }
  if (!response.ok) throw refused(url.host, response, text);
  return read(text);
}

function read(text: string): Page {
  const value = parsed(text);
  const items = value?.['items'];
  if (!Array.isArray(items))
    throw new ToolLayerError('E3308', 'Composio answered with something that is no list of tools.');
  const next = value?.['next_cursor'];
  return { items, next: typeof next === 'string' && next !== '' ? next : undefined };
}

function refused(host: string, { status, headers }: Response, text: string): ToolLayerError {
  const error = parsed(text)?.['error'];
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined;
  const said = typeof message === 'string' ? { said: message.slice(0, SAID_CHARS_MAX) } : {};
  const seconds = Number(headers.get('retry-after'));
  const advice = status === 401 || status === 403 ? ' Check the secret with its API key.' : '';
  return new ToolLayerError(codeOf(status), `${host} answered ${status} to the question for its tools.${advice}`, {
    details: { status, ...said },
    ...(seconds > 0 ? { retryAfterMs: Math.min(seconds * 1000, RETRY_AFTER_MS_MAX) } : {}),
  });
}

function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'E3307';
  if (status === 429) return 'E3303';
  return status >= 500 ? 'E3304' : 'E3309';
}

async function textOf(response: Response): Promise<string> {
  const body = await boundedBody(response, PAGE_BYTES_MAX);
  if (body === undefined) throw new ToolLayerError('E3308', 'A page of the list of tools is too large.');
  return body.toString('utf8');
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
