import type { Client, Context } from 'oidc-provider';
import { AUTHORIZATION_PATH } from './authorization-path.ts';
import { type AuthorizationTerms, PROGRAM_CLIENT, scopesOf } from './authorization-settings.ts';
import { problemPage } from './consent-pages.ts';
import type { StoredState } from './stored-state.ts';

/** What the library needs beside the terms. */
export interface ProviderParts {
  readonly terms: AuthorizationTerms;
  readonly state: StoredState;
  /** Private JWK that signs tokens. */
  readonly signingKey: object;
  /** Signs cookies. */
  readonly cookieKey: string;
  /** Fetches documents of clients; reaches nothing but public addresses over https. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** The library's classes of errors. */
  readonly errors: typeof import('oidc-provider').errors;
}

/** Length of validity, in seconds. */
const TTL = {
  AccessToken: 3600,
  AuthorizationCode: 60,
  ClientCredentials: 600,
  Grant: 14 * 86_400,
  IdToken: 3600,
  Interaction: 600,
  RefreshToken: 14 * 86_400,
  Session: 86_400,
};

/** Authorization code with PKCE, refresh, client credentials; registration by document (CIMD) and by request (DCR). */
export function providerConfiguration(parts: ProviderParts): object {
  const { terms, state, signingKey, cookieKey } = parts;
  return {
    adapter: (model: string) => state.adapterOf(model),
    jwks: { keys: [signingKey] },
    cookies: { keys: [cookieKey], long: COOKIE, short: COOKIE },
    clients: [programClient(terms)],
    scopes: ['openid', 'offline_access', ...scopesOf(terms)],
    responseTypes: ['code'],
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    ttl: TTL,
    rotateRefreshToken: true,
    issueRefreshToken: async (_context: Context, client: Client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    findAccount: (_context: Context, sub: string) =>
      terms.users.includes(sub) ? { accountId: sub, claims: async () => ({ sub }) } : undefined,
    extraClientMetadata: { properties: ['scope'], validator: forgetScope },
    // The layer lets only pages of its own address and of server.allowed_origins come so far.
    clientBasedCORS: () => true,
    fetch: parts.fetch,
    interactions: {
      url: (_context: Context, { uid }: { readonly uid: string }) => `${AUTHORIZATION_PATH}/consent/${uid}`,
    },
    renderError,
    routes: {
      authorization: `${AUTHORIZATION_PATH}/authorize`,
      jwks: `${AUTHORIZATION_PATH}/jwks`,
      pushed_authorization_request: `${AUTHORIZATION_PATH}/par`,
      registration: `${AUTHORIZATION_PATH}/register`,
      revocation: `${AUTHORIZATION_PATH}/revoke`,
      token: `${AUTHORIZATION_PATH}/token`,
    },
    features: featuresOf(parts),
  };
}

const COOKIE = { httpOnly: true, sameSite: 'lax', path: AUTHORIZATION_PATH };

function featuresOf({ terms, errors }: ProviderParts): object {
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    clientCredentials: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    dPoP: { enabled: true },
    registration: { enabled: true, issueRegistrationAccessToken: false },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: async (_context: Context, _client: Client, oneOf?: readonly string[]) =>
        oneOf ?? terms.resources[0],
      useGrantedResource: async () => true,
      getResourceServerInfo: async (context: Context, resource: string, client: Client) => {
        if (!terms.isResource(resource)) throw new errors.InvalidTarget();
        if (context.oidc.params?.['grant_type'] === 'client_credentials' && client.clientId !== PROGRAM_CLIENT)
          throw new errors.UnauthorizedClient(WITHOUT_USER);
        return {
          audience: resource,
          scope: scopesOf(terms).join(' '),
          accessTokenFormat: 'jwt',
          accessTokenTTL: TTL.AccessToken,
          jwt: { sign: { alg: 'RS256' } },
        };
      },
    },
  };
}

/** Anybody on this machine can register a client: without a user it must not get anything. */
const WITHOUT_USER = `without a user only the client "${PROGRAM_CLIENT}" gets tokens; its secret is in the data folder`;

const programClient = ({ clientSecret }: AuthorizationTerms): object => ({
  client_id: PROGRAM_CLIENT,
  client_secret: clientSecret,
  client_name: 'Program without a user',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
});

/**
 * MCP clients register with the scope of the first challenge, and ask for others when a tool needs one. What a client may
 * do is for its user to decide, each time.
 */
function forgetScope(_context: Context, _name: string, _value: unknown, metadata: { scope?: string }): void {
  delete metadata.scope;
}

/** The library shows errors itself where it must not redirect: an unknown client, a foreign redirect address. */
async function renderError(context: Context, out: Readonly<Record<string, unknown>>): Promise<void> {
  const { error, error_description } = out;
  context.type = 'html';
  context.body = problemPage('This login cannot go on', `${String(error_description ?? error)} (${String(error)})`);
}
