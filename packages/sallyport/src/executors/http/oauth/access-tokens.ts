import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { LRUCache } from 'lru-cache';
import type { NetworkPermission } from '../../../../api/schemas/tool-manifest.ts';
import type { OutboundHttp } from '../../../external/outbound-http.ts';
import { abortReason } from '../../abort-reason.ts';
import { type AccessToken, type ClientCredentials, requestToken } from './token-request.ts';

/** Most tokens cached. */
const TOKENS_MAX = 1000;
/** A token is no longer used this long before it expires, in ms: it must arrive in time. */
const MARGIN_MS = 30_000;
/** Lifetime of a token whose server does not state one, in ms. */
const USUAL_LIFE_MS = 300_000;
/** Longest lifetime of a token in the cache, in ms, whatever its server says. */
const LIFE_MAX_MS = 86_400_000;
/** Longest request to a token server, in ms. */
const REQUEST_MS = 20_000;

/** Owner of a token. */
export interface TokenOwner {
  readonly tenantId: string;
  readonly auth: ClientCredentials;
  /** `client_id:client_secret` */
  readonly secret: string;
  /** The call's grant; it must include the token server. */
  readonly allowed: readonly NetworkPermission[];
}

/** A token, and whether it was cached: only then may a new one help against a 401. */
export interface GivenToken {
  readonly value: string;
  readonly isKept: boolean;
}

/** Cache of client tokens until they expire; never written to disk. */
export interface AccessTokens {
  /**
   * Gets a token; concurrent callers of the same one share a request.
   * @throws ToolLayerError E3104 when the grant excludes the token server; the errors of `requestToken`
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
      // A request that all its callers have left is ending.
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

/** Waits for a shared request; the last caller who leaves ends it. */
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

/** Hashed, so that secrets are not kept as keys. */
function keyOf({ tenantId, auth, secret }: TokenOwner): string {
  const { token_url, scopes, audience, client_auth } = auth;
  return sha256(JSON.stringify([tenantId, token_url, scopes, audience, client_auth, secret]));
}
