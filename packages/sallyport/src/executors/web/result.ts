import { KiB } from '@sallyport/std/bytes';
import { isoTime } from '@sallyport/std/iso-time';
import { cutContent } from './page/cut-content.ts';
import type { PageConverter } from './page/page-converter.ts';
import type { ConvertedPage, PageLink } from './page/page-task.ts';
import { CHARS_DEFAULT, type FetchParameters } from './parameters.ts';
import { type ContentKind, kindOfBytes, kindOfType, mediaTypeOf } from './request/content-kind.ts';
import { decodeText } from './request/decode-text.ts';
import type { FetchedPage } from './request/fetch-page.ts';

/** Result of a tool of kind `web`. */
export interface WebResult {
  /** URL as requested. */
  readonly url: string;
  /** After redirects. */
  readonly final_url: string;
  readonly status: number;
  readonly title?: string;
  readonly byline?: string;
  readonly language?: string;
  readonly content: string;
  /** Of the answer, without parameters. */
  readonly content_type: string;
  /** There is more than `content` holds: request it at `next_offset`, if given; otherwise the page itself was cut. */
  readonly truncated: boolean;
  readonly next_offset?: number;
  readonly links?: readonly PageLink[];
  /** Number of dropped items, by kind: hidden, active, links, images. */
  readonly dropped?: Readonly<Record<string, number>>;
  readonly notes?: readonly string[];
  readonly from_cache: boolean;
  readonly fetched_at: string;
}

/** A fetched page, and the wanted form. */
export interface ResultQuestion {
  readonly page: FetchedPage;
  readonly parameters: FetchParameters;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

/** Part of the call's output limit reserved for members around the content, in bytes. */
const ENVELOPE_BYTES = 8 * KiB;
const CONTENT_BYTES_MIN = 512;
/** Largest share of the output limit for links. */
const LINKS_SHARE = 0.25;

/**
 * The page as the tool's result.
 * @throws ToolLayerError E3308 when its bytes are not text, and the errors of `PageConverter.run`
 */
export async function resultOf(converter: PageConverter, question: ResultQuestion): Promise<WebResult> {
  const { page, parameters, bytesMax } = question;
  const contentType = mediaTypeOf(page.headers['content-type']);
  const kind = kindOfType(contentType) ?? kindOfBytes(page.body);
  const { text } = decodeText(page.body, page.headers['content-type'], !page.truncated);
  const converted = await convert(converter, kind, text, question);
  const links = converted.links === undefined ? undefined : fitting(converted.links, bytesMax * LINKS_SHARE);
  const linksBytes = links === undefined ? 0 : Buffer.byteLength(JSON.stringify(links));
  const room = Math.max(CONTENT_BYTES_MIN, bytesMax - ENVELOPE_BYTES - linksBytes);
  const { offset = 0, max_chars: charsMax = CHARS_DEFAULT } = parameters;
  const { content, nextOffset } = cutContent(converted.content, offset, charsMax, room);
  const { title, byline, language, dropped, notes } = converted;
  return {
    url: parameters.url,
    final_url: page.finalUrl.href,
    status: page.status,
    ...(title === undefined ? {} : { title }),
    ...(byline === undefined ? {} : { byline }),
    ...(language === undefined ? {} : { language }),
    content,
    content_type: contentType,
    truncated: nextOffset !== undefined || page.truncated || converted.truncated,
    ...(nextOffset === undefined ? {} : { next_offset: nextOffset }),
    ...(links === undefined ? {} : { links }),
    ...(Object.keys(dropped).length === 0 ? {} : { dropped }),
    ...(notes.length === 0 ? {} : { notes }),
    from_cache: page.fromCache,
    fetched_at: isoTime(page.fetchedAt),
  };
}

const AS_IT_IS = { dropped: {}, notes: [], truncated: false } as const;

async function convert(
  converter: PageConverter,
  kind: ContentKind,
  text: string,
  { page, parameters, signal }: ResultQuestion,
): Promise<ConvertedPage> {
  const { mode = 'article', selector, links = false } = parameters;
  const url = page.finalUrl.href;
  if (mode === 'raw' || kind === 'text') return { content: text, ...AS_IT_IS };
  if (kind === 'html') return await converter.run({ kind, html: text, url, mode, selector, links }, signal);
  const feed = await converter.run({ kind: 'feed', xml: text, url }, signal);
  return feed ?? { content: text, ...AS_IT_IS };
}

function fitting(links: readonly PageLink[], bytesMax: number): readonly PageLink[] {
  let bytes = 2;
  const kept: PageLink[] = [];
  for (const link of links) {
    bytes += Buffer.byteLength(JSON.stringify(link)) + 1;
    if (bytes > bytesMax) break;
    kept.push(link);
  }
  return kept;
}
