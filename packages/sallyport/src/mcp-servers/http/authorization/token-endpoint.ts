import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isLoopback } from '@sallyport/std/web/loopback';
import type { JWK } from 'jose';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  type ClientAuth,
  Configuration,
  clientCredentialsGrant,
  customFetch,
  type DPoPHandle,
  genericGrantRequest,
  getDPoPHandle,
  refreshTokenGrant,
  type ServerMetadata,
  tokenRevocation,
} from 'openid-client';
import type { AuthorizationFetch } from './authorization-fetch.ts';
import type { Tokens } from './authorization-state.ts';
import { dpopKeyPair } from './dpop-keys.ts';
import { authorizationFailure } from './failures.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:';
/** Longest wait for the token endpoint, s; the request itself ends a little earlier. */
const TIMEOUT_SECONDS = 15;

/** A token endpoint, and the layer as its client. */
export interface TokenEndpoint {
  /** Name of the upstream. */
  readonly name: string;
  readonly server: ServerMetadata;
  readonly clientId: string;
  readonly authentication: ClientAuth;
  readonly send: AuthorizationFetch;
  /** Binds tokens to this key. */
  readonly dpopKey?: JWK | undefined;
  /** Epoch ms. */
  readonly now: () => number;
}

type Parameters = Readonly<Record<string, string>>;
type Answer = Awaited<ReturnType<typeof clientCredentialsGrant>>;
type Ask = (configuration: Configuration, options: { DPoP?: DPoPHandle }) => Promise<Answer>;

/** The client configuration of the library. */
export function configurationOf({ server, clientId, authentication, send }: TokenEndpoint): Configuration {
  const configuration = new Configuration(server, clientId, undefined, authentication);
  configuration[customFetch] = send as never;
  configuration.timeout = TIMEOUT_SECONDS;
  if (isLoopback(new URL(server.issuer).hostname)) allowInsecureRequests(configuration);
  return configuration;
}

/**
 * Exchanges the code of a redirect, whose state and issuer are checked first (RFC 9207).
 * @throws E3307 when the redirect is not the expected one, or the server refuses; see `authorizationFailure`
 */
export function exchangeCode(
  endpoint: TokenEndpoint,
  redirected: URL,
  checks: { readonly state: string; readonly verifier: string },
  parameters: Parameters,
): Promise<Tokens> {
  return issuedBy(endpoint, (configuration, options) =>
    authorizationCodeGrant(
      configuration,
      redirected,
      { expectedState: checks.state, pkceCodeVerifier: checks.verifier },
      { ...parameters },
      options,
    ),
  );
}

/** @throws see `authorizationFailure`; `isInvalidGrant` recognises a refresh token that is used up */
export const refreshTokens = (endpoint: TokenEndpoint, refreshToken: string, parameters: Parameters): Promise<Tokens> =>
  issuedBy(endpoint, (configuration, options) =>
    refreshTokenGrant(configuration, refreshToken, { ...parameters }, options),
  );

/** A token for the layer itself (RFC 6749 §4.4). @throws see `authorizationFailure` */
export const clientCredentials = (endpoint: TokenEndpoint, parameters: Parameters): Promise<Tokens> =>
  issuedBy(endpoint, (configuration, options) => clientCredentialsGrant(configuration, { ...parameters }, options));

/** A token for an assertion (RFC 7523 §2.1). @throws see `authorizationFailure` */
export const jwtBearer = (endpoint: TokenEndpoint, assertion: string, parameters: Parameters): Promise<Tokens> =>
  issuedBy(endpoint, (configuration, options) =>
    genericGrantRequest(configuration, JWT_BEARER, { ...parameters, assertion }, options),
  );

/** Asks an identity provider for a grant at another server (ID-JAG). @returns the assertion for it */
export async function identityAssertion(
  provider: TokenEndpoint,
  idToken: string,
  target: { readonly issuer: string; readonly resource: string; readonly scopes: readonly string[] },
): Promise<string> {
  const { access } = await issuedBy(provider, (configuration) =>
    genericGrantRequest(configuration, EXCHANGE, {
      requested_token_type: `${TOKEN_TYPE}id-jag`,
      subject_token: idToken,
      subject_token_type: `${TOKEN_TYPE}id_token`,
      audience: target.issuer,
      resource: target.resource,
      ...(target.scopes.length === 0 ? {} : { scope: target.scopes.join(' ') }),
    }),
  );
  return access;
}

/** Ends tokens at their server, as far as it can be asked to. */
export async function revoke(endpoint: TokenEndpoint, { refresh, access }: Tokens): Promise<void> {
  if (endpoint.server.revocation_endpoint === undefined) return;
  await tokenRevocation(configurationOf(endpoint), refresh ?? access);
}

async function issuedBy(endpoint: TokenEndpoint, ask: Ask): Promise<Tokens> {
  const { name, server, dpopKey, now } = endpoint;
  try {
    const configuration = configurationOf(endpoint);
    const handle = dpopKey === undefined ? undefined : getDPoPHandle(configuration, await dpopKeyPair(dpopKey));
    return tokensIn(await ask(configuration, handle === undefined ? {} : { DPoP: handle }), now());
  } catch (thrown) {
    throw authorizationFailure(name, server.issuer, thrown);
  }
}

function tokensIn(answer: Answer, now: number): Tokens {
  const { access_token: access, refresh_token: refresh, expires_in: seconds, token_type: type } = answer;
  return {
    ...{ access, isDpop: type === 'dpop' },
    ...(refresh === undefined ? {} : { refresh }),
    ...(seconds === undefined ? {} : { expiresAt: now + seconds * 1000 }),
  };
}

/** True when a refresh token is not valid any more. */
export const isInvalidGrant = (thrown: unknown): boolean =>
  thrown instanceof ToolLayerError && thrown.failure.details?.['oauth_error'] === 'invalid_grant';
