import { KiB } from '@sallyport/std/bytes';
import { boundedBody } from '@sallyport/std/web/bounded-body';
import { isLoopback } from '@sallyport/std/web/loopback';

/** Largest key set that is read. */
const DOCUMENT_BYTES_MAX = 256 * KiB;

/** Why a URL is not accepted for a key set; undefined when it is. */
export function jwksUrlFault(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return `The address of the key set, ${JSON.stringify(text.slice(0, 200))}, is not a URL.`;
  }
  if (url.username !== '' || url.password !== '') return 'The address of the key set must not hold a password.';
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return undefined;
  return `The address of the key set, ${url.origin}, must begin with https://; http:// only on this machine.`;
}

/**
 * Downloads a document: no redirects, 200 only, at most 256 KiB.
 * @throws Error saying what was wrong with the answer, without its content
 */
export async function fetchDocument(url: string, signal: AbortSignal): Promise<string> {
  const headers = { accept: 'application/jwk-set+json, application/json' };
  const response = await fetch(url, { signal, redirect: 'error', headers });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`answered with HTTP ${response.status}`);
  }
  const body = await boundedBody(response, DOCUMENT_BYTES_MAX);
  if (body === undefined) throw new Error(`sends more than ${DOCUMENT_BYTES_MAX} bytes`);
  return new TextDecoder('utf-8', { fatal: true }).decode(body);
}
