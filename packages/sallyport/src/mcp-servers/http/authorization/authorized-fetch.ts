import {
  allowInsecureRequests,
  ClientError,
  Configuration,
  customFetch,
  type DPoPHandle,
  fetchProtectedResource,
  getDPoPHandle,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import type { HttpFetch } from '../bounded-fetch.ts';
import { challengeOf } from './discovery/challenge.ts';
import { dpopKeyPair } from './dpop-keys.ts';
import type { Access, HolderTokens } from './holder-tokens.ts';

/** Sends the requests of one connection with tokens of its holder. */
export interface Authorizer {
  /** @param carry sends one request @returns see `authorizedFetch` */
  over(carry: HttpFetch): HttpFetch;
  /** Takes the tokens out of a text of the upstream. */
  hide(text: string): string;
}

/** How often one request is sent again with another token. */
const RENEWALS_MAX = 2;

/**
 * A `fetch` that sends the holder's token, and sends a request again with a new one when the upstream asks for it.
 * @param secrets credentials of the caller, where the connection is the caller's own
 * @returns rejects with E3311 when somebody has to log in; see `HolderTokens.renew`
 */
export function authorizedFetch(tokens: HolderTokens, carry: HttpFetch, secrets: SecretStore): HttpFetch {
  const send = sender(carry);
  return async (url, init = {}) => {
    let access = await tokens.current(secrets);
    for (let renewals = 0; ; renewals += 1) {
      const response = await send(new URL(url), init, access);
      const challenge = challengeOf(response);
      if (challenge === undefined || renewals === RENEWALS_MAX) return response;
      const next = await tokens.renew(challenge, access, secrets);
      if (next === undefined) return response;
      await response.body?.cancel();
      access = next;
    }
  };
}

type Send = (url: URL, init: RequestInit, access: Access | undefined) => Promise<Response>;

function sender(carry: HttpFetch): Send {
  let bound: { readonly token: string; readonly handle: DPoPHandle } | undefined;
  return async (url, init, access) => {
    if (access === undefined) return carry(url, init);
    const headers = new Headers(init.headers);
    if (access.dpopKey === undefined) {
      headers.set('authorization', `Bearer ${access.token}`);
      return carry(url, { ...init, headers });
    }
    const configuration = resourceConfiguration(url, access, (options) =>
      carry(url, { ...init, headers: options.headers }),
    );
    if (bound?.token !== access.token) {
      // The handle remembers the nonces of the upstream.
      const handle = getDPoPHandle(configuration, await dpopKeyPair(access.dpopKey));
      bound = { token: access.token, handle };
    }
    return sendBound(configuration, access.token, url, init, headers, bound.handle);
  };
}

function resourceConfiguration(
  url: URL,
  { source }: Access,
  carry: (options: { readonly headers: Record<string, string> }) => Promise<Response>,
): Configuration {
  const configuration = new Configuration(source.server, source.client.id);
  configuration[customFetch] = (_url, options) => carry(options);
  // The transport has time limits of its own.
  configuration.timeout = undefined;
  if (url.protocol === 'http:') allowInsecureRequests(configuration);
  return configuration;
}

/** Sends with a fresh proof; once more when the upstream wants its nonce in it (RFC 9449 §9). */
async function sendBound(
  configuration: Configuration,
  token: string,
  url: URL,
  { method = 'GET' }: RequestInit,
  headers: Headers,
  handle: DPoPHandle,
): Promise<Response> {
  try {
    return await fetchProtectedResource(configuration, token, url, method, undefined, headers, { DPoP: handle });
  } catch (thrown) {
    if (thrown instanceof WWWAuthenticateChallengeError) return thrown.response;
    throw thrown instanceof ClientError && thrown.cause !== undefined ? thrown.cause : thrown;
  }
}
