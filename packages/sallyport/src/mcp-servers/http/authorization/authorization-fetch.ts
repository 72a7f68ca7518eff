import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { boundedBody } from '@sallyport/std/web/bounded-body';
import { isLoopback } from '@sallyport/std/web/loopback';
import type { NetworkPermission } from '../../../../api/schemas/tool-manifest.ts';
import { createGuardedFetch } from '../../../external/guarded-fetch.ts';
import type { OutboundHttp } from '../../../external/outbound-http.ts';

/** Largest answer that is read: metadata, a registration or tokens. */
const ANSWER_BYTES_MAX = 256 * KiB;
/** Longest time for an answer, ms. */
const TIMEOUT_MS = 10_000;
const PUBLIC: readonly NetworkPermission[] = [{ host: '*', port: 0 }];

/** Sends a request of the authorization; the answer is small and complete. */
export type AuthorizationFetch = (url: string, init?: RequestInit) => Promise<Response>;

/** Where requests of an authorization may go. */
export interface AuthorizationReach {
  /** Address of the upstream. */
  readonly upstream: URL;
  /** The authorization server that the operator stated. */
  readonly issuer: string | undefined;
  readonly outbound: OutboundHttp;
  /** Throws for what the operator of the machine does not allow. */
  readonly check: (url: URL) => void;
  /** Longest time for an answer, ms; 10 000 when absent. */
  readonly timeoutMs: number | undefined;
}

/**
 * A `fetch` for addresses that an upstream named, none of which is trusted: https to public addresses. Addresses on
 * this machine only where the upstream is on it too, others that are not public only where the operator stated them.
 * Redirects are not followed.
 * @returns rejects with E3104 for an address that may not be reached, E3306 and E3308; else as `fetch` does
 */
export function createAuthorizationFetch(reach: AuthorizationReach): AuthorizationFetch {
  return async (address, init = {}) => {
    const url = new URL(address);
    const isNamed = isNamedByOperator(url, reach);
    if (!isNamed && (url.protocol !== 'https:' || isLoopback(url.hostname))) throw unreachable(url);
    reach.check(url);
    const send = createGuardedFetch(reach.outbound, isNamed ? [rowOf(url)] : PUBLIC);
    const { timeoutMs = TIMEOUT_MS } = reach;
    const late = AbortSignal.timeout(timeoutMs);
    const signal = init.signal == null ? late : AbortSignal.any([init.signal, late]);
    try {
      return await complete(await send(url, { ...init, redirect: 'manual', signal }), url);
    } catch (thrown) {
      if (!late.aborted) throw thrown;
      throw new ToolLayerError('E3306', `${url.origin} did not answer within ${timeoutMs} ms.`, { cause: thrown });
    }
  };
}

function isNamedByOperator(url: URL, { upstream, issuer }: AuthorizationReach): boolean {
  if (isLoopback(url.hostname)) return isLoopback(upstream.hostname);
  if (url.origin === upstream.origin) return true;
  return url.protocol === 'https:' && issuer !== undefined && new URL(issuer).origin === url.origin;
}

function rowOf({ hostname, port, protocol }: URL): NetworkPermission {
  return { host: hostname, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

async function complete(response: Response, { origin }: URL): Promise<Response> {
  const { status, statusText, headers, body } = response;
  if (body === null) return response;
  const bytes = await boundedBody({ body }, ANSWER_BYTES_MAX);
  if (bytes === undefined) {
    throw new ToolLayerError('E3308', `${origin} answered with more than ${ANSWER_BYTES_MAX} bytes.`);
  }
  return new Response(new Uint8Array(bytes), { status, statusText, headers });
}

function unreachable({ origin }: URL): ToolLayerError {
  return new ToolLayerError(
    'E3104',
    `${origin} may not be asked for an authorization: only public https addresses, and those that the operator stated. ` +
      'State the authorization server in authorization.issuer if it is meant.',
  );
}
