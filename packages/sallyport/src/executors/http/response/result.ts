import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { roundedIn } from '@sallyport/std/json/json-text';
import type { HideSecrets } from '../../../external/hide-secrets.ts';
import type { OutboundAnswer } from '../../../external/outbound-http.ts';
import type { Pagination } from './pagination.ts';

/** Result of a tool of kind `http`. */
export interface HttpResult {
  readonly status: number;
  /** The few header fields that matter to the caller. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, else text, else bytes in base64. Absent when the answer has no body, or a JSON body that was cut. */
  readonly body?: unknown;
  /** `base64` when `body` is bytes. */
  readonly body_encoding?: 'base64';
  /** Beginning of a JSON body that was cut, and so is not valid JSON. */
  readonly body_text?: string;
  /** The body was longer than the call may return. */
  readonly truncated?: true;
  /** How to ask for the next page, when the answer says that there is one. */
  readonly pagination?: Pagination;
}

const HEADERS =
  /^(?:content-type|content-disposition|content-language|etag|last-modified|location|link|retry-after|x-request-id|x-total-count|deprecation|sunset|(?:x-)?rate-?limit.*)$/;
const HEADER_CHARS_MAX = 1024;
const HEADERS_MAX = 32;
const JSON_TYPE = /^(?:application\/(?:[^;]*\+)?json|text\/json)\s*(?:;|$)/i;
const TEXT_TYPE =
  /^(?:text\/|application\/(?:[^;]*\+)?(?:xml|yaml|x-yaml|javascript|x-ndjson|graphql|x-www-form-urlencoded|toml|sql)\b)/i;

/** The result of a tool, and the places in it where a whole number was rounded. */
interface ReadAnswer {
  readonly result: HttpResult;
  readonly rounded?: readonly string[];
}

/**
 * The answer as the tool's result.
 * @throws ToolLayerError E3308 when the body does not match its content type
 */
export function resultOf(answer: OutboundAnswer, bytesMax: number, hide: HideSecrets): ReadAnswer {
  const { status, body: bytes } = answer;
  const headers = selected(answer, hide);
  if (bytes.length === 0) return { result: { status, headers } };
  const type = answer.headers['content-type'] ?? '';
  const cut = answer.truncated ? { truncated: true as const } : {};
  if (JSON_TYPE.test(type)) {
    const text = hide(textOf(bytes, 'utf-8'));
    if (answer.truncated) return { result: { status, headers, body_text: text, ...cut } };
    const result = { status, headers, body: parsed(text, status) };
    const rounded = roundedIn(text).map((pointer) => `/body${pointer}`);
    return rounded.length === 0 ? { result } : { result, rounded };
  }
  if (TEXT_TYPE.test(type) || (type === '' && !bytes.includes(0))) {
    return { result: { status, headers, body: hide(textOf(bytes, charsetOf(type))), ...cut } };
  }
  // Base64 is a third longer than the bytes.
  const shown = bytes.subarray(0, Math.floor((bytesMax * 3) / 4));
  const isCut = answer.truncated || shown.length < bytes.length;
  const body = shown.toString('base64');
  return { result: { status, headers, body, body_encoding: 'base64', ...(isCut ? { truncated: true } : {}) } };
}

function selected({ headers }: OutboundAnswer, hide: HideSecrets): Record<string, string> {
  const shown: Record<string, string> = {};
  let count = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !HEADERS.test(name)) continue;
    count += 1;
    if (count > HEADERS_MAX) break;
    shown[name] = hide(String(value)).slice(0, HEADER_CHARS_MAX);
  }
  return shown;
}

/** A character cut in the middle is dropped. */
function textOf(bytes: Buffer, charset: string): string {
  return new TextDecoder(charset).decode(bytes, { stream: true });
}

function charsetOf(type: string): string {
  const charset = /charset\s*=\s*"?([\w-]{1,40})/i.exec(type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).encoding;
  } catch {
    return 'utf-8';
  }
}

function parsed(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable('that says it is JSON and is not', cause, { status, body: text.slice(0, 200) });
  }
}

const unreadable = (what: string, cause?: unknown, details?: Record<string, unknown>): ToolLayerError =>
  new ToolLayerError('E3308', `The service answered with a body ${what}.`, {
    ...(cause === undefined ? {} : { cause }),
    ...(details === undefined ? {} : { details }),
  });
