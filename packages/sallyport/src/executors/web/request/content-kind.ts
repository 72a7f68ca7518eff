import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/** How the body of an answer is parsed. */
export type ContentKind = 'html' | 'xml' | 'text';

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/;
const XML = /^(?:text\/xml|application\/xml|application\/[\w.+-]*\+xml)$/;
const TEXT =
  /^(?:text\/[\w.+-]+|application\/(?:[\w.+-]+\+)?(?:json|yaml|toml|sql|graphql|javascript|ecmascript)|application\/(?:x-)?(?:ndjson|yaml|sh|httpd-php|javascript|json-seq|jsonl))$/;
/** Types with which servers say that they do not know the type. */
const UNKNOWN = /^(?:|application\/octet-stream|binary\/octet-stream|application\/x-unknown|unknown\/unknown)$/;
const SNIFFED_BYTES = 1024;

/** The type without parameters, in lower case; empty when there is none. */
export function mediaTypeOf(header: string | undefined): string {
  return (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/**
 * How an answer of this type is parsed; undefined when only its bytes can show it.
 * @throws ToolLayerError E3308 for a type that is not text
 */
export function kindOfType(type: string): ContentKind | undefined {
  if (HTML.test(type)) return 'html';
  if (XML.test(type)) return type === 'image/svg+xml' ? 'text' : 'xml';
  if (TEXT.test(type)) return 'text';
  if (UNKNOWN.test(type)) return undefined;
  throw unreadable(type);
}

/**
 * How bytes of an unknown type are parsed.
 * @throws ToolLayerError E3308 when they are not text
 */
export function kindOfBytes(body: Buffer): ContentKind {
  const head = body.subarray(0, SNIFFED_BYTES);
  const isUtf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  const text = head.toString('latin1', hasMark(head) ? 3 : 0).trimStart();
  if (text.startsWith('%PDF-')) throw unreadable('application/pdf');
  if (!isUtf16 && head.some(isControl)) throw unreadable('bytes that are no text');
  if (/^<(?:!doctype html|html|head|body|script|title|!--)[\s>-]/i.test(text)) return 'html';
  return /^<\?xml\s/.test(text) ? 'xml' : 'text';
}

const hasMark = (head: Buffer): boolean => head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;

/** Bytes that do not occur in text (WHATWG MIME Sniffing §3 "binary data byte"). */
const isControl = (byte: number): boolean =>
  byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f);

function unreadable(type: string): ToolLayerError {
  const pdf = type === 'application/pdf' ? ' PDF is not read.' : '';
  return new ToolLayerError(
    'E3308',
    `The address leads to ${type.slice(0, 100)}, and only HTML, text, JSON, XML and feeds are read.${pdf}`,
    { details: { content_type: type.slice(0, 100) } },
  );
}
