import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The members of `oidc-provider`, which has no types of its own, that are used here. */
interface Provider {
  callback(): RequestListener;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  on(event: string, listener: (...args: unknown[]) => void): void;
  readonly Grant: { new (owner: object): Grant; find(id: string): Promise<Grant> };
  readonly AccessToken: { find(token: string): Promise<AccessToken | undefined> };
  readonly ClientCredentials: { find(token: string): Promise<AccessToken | undefined> };
}
interface Interaction {
  readonly prompt: {
    readonly name: string;
    readonly details: {
      readonly missingOIDCScope?: readonly string[];
      readonly missingResourceScopes?: Readonly<Record<string, readonly string[]>>;
    };
  };
  readonly params: { readonly client_id: string };
  readonly grantId?: string;
  readonly session?: { readonly accountId: string };
}
interface Grant {
  addOIDCScope(scope: string): void;
  addResourceScope(resource: string, scope: string): void;
  save(): Promise<string>;
}
/** A token as the server knows it. */
export interface AccessToken {
  readonly accountId?: string;
  readonly clientId: string;
  readonly aud: string;
  readonly scope?: string;
  /** Thumbprint of the key that it is bound to. */
  readonly jkt?: string;
}

/** Address of the document that stands for a client, which the server reads in place of a registration. */
export const CLIENT_DOCUMENT = 'https://layer.example/client.json';
/** A client that was registered beforehand. */
export const KNOWN_CLIENT = { client_id: 'known-client', client_secret: 'known-secret-of-the-layer-0123456789' };

/** A real authorization server: PKCE, refresh tokens that are used once, DPoP, registration, client documents. */
export async function startAuthorizationServer({ redirectUrl }: { readonly redirectUrl: string }) {
  const http = createServer();
  await new Promise<void>((done) => http.listen(0, 'localhost', done));
  // A name: addresses in errors are taken for personal data.
  const issuer = `http://localhost:${(http.address() as AddressInfo).port}`;
  const requests: { readonly path: string; readonly grant?: string }[] = [];
  const state = { user: 'ada', lifetimeSeconds: 3600 };
  const { default: OidcProvider } = (await import('oidc-provider' as string)) as {
    default: new (issuer: string, configuration: object) => Provider;
  };
  const provider = new OidcProvider(issuer, configurationOf(redirectUrl, state));
  provider.on('grant.success', (ctx) => {
    const { params } = (ctx as { oidc: { params: { grant_type: string } } }).oidc;
    requests.push({ path: '/token', grant: params.grant_type });
  });
  const callback = provider.callback();
  http.on('request', (request, response) => {
    requests.push({ path: request.url ?? '' });
    if (request.url?.startsWith('/interaction/') !== true) return callback(request, response);
    return void interact(provider, request, response, state.user);
  });
  return {
    issuer,
    state,
    requests,
    granted: (grant: string) => requests.filter((each) => each.grant === grant).length,
    tokenOf: async (token: string): Promise<AccessToken | undefined> =>
      (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token)),
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}
export type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>;

function configurationOf(redirectUrl: string, state: { readonly lifetimeSeconds: number }): object {
  const resource = {
    enabled: true,
    getResourceServerInfo: (_ctx: unknown, audience: string) => ({
      ...{ audience, scope: 'notes:read notes:write', accessTokenFormat: 'opaque' },
    }),
    useGrantedResource: () => true,
  };
  return {
    clients: [
      {
        ...KNOWN_CLIENT,
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        redirect_uris: [redirectUrl],
        token_endpoint_auth_method: 'client_secret_basic',
        application_type: 'native',
      },
    ],
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      dPoP: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      resourceIndicators: resource,
    },
    fetch: async () => Response.json(documentOf(redirectUrl)),
    scopes: ['openid', 'offline_access', 'notes:read', 'notes:write'],
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_ctx: unknown, accountId: string) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    rotateRefreshToken: true,
    ttl: {
      AccessToken: () => state.lifetimeSeconds,
      ClientCredentials: () => state.lifetimeSeconds,
      ...{ Session: 600, Grant: 600, Interaction: 600, RefreshToken: 600, AuthorizationCode: 60 },
    },
    cookies: { keys: ['for tests'] },
  };
}

const documentOf = (redirectUrl: string): object => ({
  client_id: CLIENT_DOCUMENT,
  client_name: 'Sallyport',
  redirect_uris: [redirectUrl],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  application_type: 'native',
});

/** The person of the state logs in, and consents to everything. */
async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  user: string,
): Promise<void> {
  const { prompt, params, grantId, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') return provider.interactionFinished(request, response, { login: { accountId: user } });
  const owner = { accountId: session?.accountId, clientId: params.client_id };
  const grant = grantId === undefined ? new provider.Grant(owner) : await provider.Grant.find(grantId);
  const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details;
  grant.addOIDCScope(missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(missingResourceScopes))
    grant.addResourceScope(resource, scopes.join(' '));
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

/** Opens a link as a browser does, and follows it. @returns the address outside of the server that it ends at */
export async function browse(link: string): Promise<string> {
  const cookies = new Map<string, string>();
  const { origin } = new URL(link);
  let address = link;
  while (new URL(address).origin === origin) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address, { redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const next = response.headers.get('location');
    if (next === null)
      throw new Error(`the page ${address} leads nowhere: ${response.status} ${await response.text()}`);
    address = new URL(next, address).href;
  }
  return address;
}
