import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { LRUCache } from 'lru-cache';
import type { NetworkPermission } from '../../../../api/schemas/tool-manifest.ts';
import type { OutboundHttp } from '../../../external/outbound-http.ts';
import { abortReason } from '../../abort-reason.ts';
import { type AccessToken, type ClientCredentials, requestToken } from './token-request.ts';

/** Tokens that are kept. */
const TOKENS_MAX = 1000;
/** A token is not used for so long before it expires, in ms: it has to arrive in time. */
const MARGIN_MS = 30_000;
/** How long a token is used whose server does not say when it expires, in ms. */
const USUAL_LIFE_MS = 300_000;
/** Longest time that a token is used, in ms, whatever its server says. */
const LIFE_MAX_MS = 86_400_000;
/** How long a token server may take in all, in ms. */
const REQUEST_MS = 20_000;

/** Whose token is wanted. */
export interface TokenOwner {
  readonly tenantId: string;
  readonly auth: ClientCredentials;
  /** `client_id:client_secret` */
  readonly secret: string;
  /** Rows of the call's grant; the token server has to be among them. */
  readonly allowed: readonly NetworkPermission[];
}

/** A token, and whether it was kept from before: only then may a new one help against a 401. */
export interface GivenToken {
  readonly value: string;
  readonly isKept: boolean;
}

/** Tokens of clients, kept until they expire, never written anywhere. */
export interface AccessTokens {
  /**
   * A token; callers that want the same one at the same time share one request.
   * @throws ToolLayerError E3104 when the grant does not open the token server; those of `requestToken`
   */
  tokenFor(owner: TokenOwner, signal: AbortSignal): Promise<GivenToken>;
  /** Drops a token that a service refused. */
  forget(owner: TokenOwner, value: string): void;
}

interface Flight {
  readonly token: Promise<AccessToken>;
  readonly controller: AbortController;
  waiters: number;
}

export function createAccessTokens(outbound: OutboundHttp, clock: Clock, userAgent: string): AccessTokens {
  const kept = new LRUCache<string, { readonly value: string; readonly until: number }>({ max: TOKENS_MAX });
  const flights = new Map<string, Flight>();

  const begin = (key: string, { auth, secret, allowed }: TokenOwner): Flight => {
    const controller = new AbortController();
    const late = (): void =>
      controller.abort(new ToolLayerError('E3306', `The token server gave no token within ${REQUEST_MS} ms.`));
    const timer = setTimeout(late, REQUEST_MS);
    const question = { auth, secret, allowed, userAgent, now: clock.now() };
    const token: Promise<AccessToken> = requestToken(outbound, question, controller.signal)
      .then((given) => {
        const life = Math.min((given.expiresInMs ?? USUAL_LIFE_MS) - MARGIN_MS, LIFE_MAX_MS);
        if (life > 0) kept.set(key, { value: given.value, until: clock.now() + life });
        return given;
      })
      .finally(() => {
        clearTimeout(timer);
        if (flights.get(key) === flight) flights.delete(key);
      });
    const flight: Flight = { token, controller, waiters: 0 };
    flights.set(key, flight);
    return flight;
  };
  return {
    async tokenFor(owner, signal) {
      outbound.admit(new URL(owner.auth.token_url), owner.allowed);
      const key = keyOf(owner);
      const known = kept.get(key);
      if (known !== undefined && known.until > clock.now()) return { value: known.value, isKept: true };
      const running = flights.get(key);
      // One that all others have left is ending.
      const flight = running?.controller.signal.aborted === false ? running : begin(key, owner);
      const { value } = await shared(flight, signal);
      return { value, isKept: false };
    },
    forget(owner, value) {
      const key = keyOf(owner);
      if (kept.peek(key)?.value === value) kept.delete(key);
    },
  };
}

/** Waits for a request of several; the last one who goes away ends it. */
async function shared(flight: Flight, signal: AbortSignal): Promise<AccessToken> {
  if (signal.aborted) throw abortReason(signal);
  flight.waiters += 1;
  const { promise: gone, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(abortReason(signal));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([flight.token, gone]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    flight.waiters -= 1;
    if (flight.waiters === 0) flight.controller.abort();
  }
}

/** Secrets are not to lie about as keys. */
function keyOf({ tenantId, auth, secret }: TokenOwner): string {
  const { token_url, scopes, audience, client_auth } = auth;
  return sha256(JSON.stringify([tenantId, token_url, scopes, audience, client_auth, secret]));
}
