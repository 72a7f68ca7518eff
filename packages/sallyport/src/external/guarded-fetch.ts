import { Readable } from 'node:stream';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { NetworkPermission } from '../../api/schemas/tool-manifest.ts';
import type { OpenAnswer, OutboundHttp, OutboundRequest, OutboundTimes } from './outbound-http.ts';

/** The part of `fetch` that protocol clients use. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Answers that have no body, whatever they say (Fetch §2.2.6 "null body status"). */
const NULL_BODY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const OF_CONNECTION: ReadonlySet<string> = new Set(['host', 'connection', 'content-length', 'transfer-encoding']);

/**
 * A `fetch` for libraries with a protocol of their own, such as MCP clients: it reaches only what the rows permit, over
 * connections of `outbound`, and streams bodies. Redirects are never followed: with `redirect: 'manual'` the
 * redirecting answer is returned, otherwise it is an error, as in `fetch` with `redirect: 'error'`.
 *
 * Request bodies: text, bytes and URLSearchParams. Nothing is compressed: `accept-encoding` is `identity`.
 * @param allowed rows as in a grant; see `EgressGuard.admit`
 * @param times `silenceMs: 0` for streams that may be idle for ever (the default here)
 * @returns rejects with a ToolLayerError E3104, E3306, E3308 or E3803; with a `TypeError` whose cause carries the code
 *   of the network failure, as `fetch` does, when the service cannot be reached; with the signal's reason
 */
export function createGuardedFetch(
  outbound: OutboundHttp,
  allowed: readonly NetworkPermission[],
  times: Partial<OutboundTimes> = {},
): GuardedFetch {
  return async (url, init = {}) => {
    const request = requestOf(new URL(url), init);
    const signal = init.signal ?? NEVER;
    signal.throwIfAborted();
    const answer = await outbound.open(request, { allowed, times: { silenceMs: 0, ...times }, signal }).catch(
      // The layer's refusals are passed on; network failures take the form that callers of fetch expect.
      (thrown: unknown) => Promise.reject(signal.aborted ? signal.reason : asFetchDoes(thrown)),
    );
    if (REDIRECTS.has(answer.status) && init.redirect !== 'manual') {
      answer.message.destroy();
      throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
    }
    return responseOf(answer);
  };
}

const NEVER = new AbortController().signal;

function requestOf(url: URL, { method = 'GET', headers, body }: RequestInit): OutboundRequest {
  const sent = bodyOf(body);
  const all = new Headers(headers);
  if (!all.has('accept')) all.set('accept', '*/*');
  if (sent?.type !== undefined && !all.has('content-type')) all.set('content-type', sent.type);
  all.set('accept-encoding', 'identity');
  // The connection's own fields are written by the connection.
  const fields = [...all].filter(([name]) => !OF_CONNECTION.has(name));
  return { url, method: method.toUpperCase(), headers: Object.fromEntries(fields), body: sent?.bytes };
}

function bodyOf(body: unknown): { readonly bytes: Uint8Array; readonly type?: string } | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return { bytes: Buffer.from(body), type: 'text/plain;charset=UTF-8' };
  if (body instanceof URLSearchParams) {
    return { bytes: Buffer.from(body.toString()), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
  }
  if (body instanceof ArrayBuffer) return { bytes: new Uint8Array(body) };
  if (ArrayBuffer.isView(body)) return { bytes: new Uint8Array(body.buffer, body.byteOffset, body.byteLength) };
  throw new ToolLayerError('E3901', 'A body of this kind cannot be sent: give a text, bytes or URLSearchParams.');
}

function asFetchDoes(thrown: unknown): unknown {
  if (!(thrown instanceof ToolLayerError) || thrown.code !== 'E3310') return thrown;
  return new TypeError('fetch failed', { cause: thrown.cause ?? thrown });
}

function responseOf({ status, headers, message }: OpenAnswer): Response {
  const fields = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) fields.append(name, one);
  }
  const init = { status, headers: fields, statusText: message.statusMessage ?? '' };
  if (!NULL_BODY.has(status)) return new Response(Readable.toWeb(message) as ReadableStream<Uint8Array>, init);
  message.resume();
  return new Response(null, init);
}
