import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isLoopback } from '@sallyport/std/web/loopback';
import { allowInsecureRequests, customFetch, dynamicClientRegistration, None } from 'openid-client';
import type {
  TokenEndpointMethod,
  UpstreamAuthorization,
} from '../../../../api/schemas/identity/upstream-authorization.ts';
import type { AuthorizationFetch } from './authorization-fetch.ts';
import type { UpstreamState } from './authorization-state.ts';
import { acceptedMethods, methodOf } from './client-authentication.ts';
import type { AuthorizationServer } from './discovery/authorization-server.ts';
import { authorizationFailure, errorWordOf } from './failures.ts';

type Registration = NonNullable<UpstreamState['client']>;

/** What decides as which client the layer comes to an authorization server. */
export interface RegistrationRequest {
  /** Name of the upstream. */
  readonly name: string;
  readonly server: AuthorizationServer;
  readonly authorization: UpstreamAuthorization;
  /** The registration so far. */
  readonly before?: Registration | undefined;
  /** Address of the layer's own client document; undefined when it has none. */
  readonly clientIdUrl: string | undefined;
  /** How the layer names itself. */
  readonly clientName: string;
  /** Undefined when nobody logs in. */
  readonly redirectUrl: string | undefined;
  readonly send: AuthorizationFetch;
}

/**
 * The layer as client of an authorization server, in the order of the MCP specification: registered beforehand, by its
 * client document, by a registration of its own.
 * @throws E3307 when the client belongs to another authorization server, or the server takes no client that we could be
 */
export async function registrationAt(request: RegistrationRequest): Promise<Registration> {
  const { name, server, authorization, before, clientIdUrl, redirectUrl } = request;
  const { issuer, registration_endpoint: endpoint } = server.metadata;
  if (authorization.client_id !== undefined) return registeredBeforehand(request, authorization.client_id);
  if (server.metadata['client_id_metadata_document_supported'] === true && clientIdUrl !== undefined)
    return { issuer, id: clientIdUrl, method: 'none' };
  const isSame = before?.issuer === issuer && before.redirectUrl === redirectUrl && before.id !== clientIdUrl;
  if (isSame) return before;
  if (endpoint !== undefined && redirectUrl !== undefined) return register(request, redirectUrl);
  throw new ToolLayerError(
    'E3307',
    `The authorization server ${issuer} of the upstream '${name}' takes no client that registers itself. ` +
      'Register one there, and state its client_id (and client_secret) in the authorization of the upstream.',
    { details: { reached: false } },
  );
}

function registeredBeforehand({ name, server, authorization, before }: RegistrationRequest, id: string): Registration {
  const { issuer } = server.metadata;
  if (before !== undefined && before.id === id && before.issuer !== issuer && authorization.issuer !== issuer) {
    // Its secret must not reach a server that the upstream chose afterwards.
    throw new ToolLayerError(
      'E3307',
      `The upstream '${name}' now names the authorization server ${issuer}; its client_id belongs to ${before.issuer}. ` +
        'If that is meant, state the new server in authorization.issuer.',
      { details: { reached: false } },
    );
  }
  const { client_secret, private_key, token_endpoint_auth_method: stated } = authorization;
  const method = methodOf(server.metadata, {
    hasSecret: client_secret !== undefined,
    hasKey: private_key !== undefined,
  });
  return { issuer, id, method: stated ?? method };
}

async function register(
  { name, server, clientName, send }: RegistrationRequest,
  redirectUrl: string,
): Promise<Registration> {
  const { metadata, address } = server;
  // The library reads the metadata again: it gets the checked ones.
  const registering: AuthorizationFetch = async (url, init) =>
    url === address.href ? Response.json(metadata) : withExpiry(await send(url, init));
  try {
    const registered = await dynamicClientRegistration(
      address,
      clientMetadata(server, clientName, redirectUrl),
      None(),
      {
        [customFetch]: registering as never,
        ...(isLoopback(address.hostname) ? { execute: [allowInsecureRequests] } : {}),
      },
    );
    const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = registered.clientMetadata();
    const known = { issuer: metadata.issuer, id, redirectUrl };
    // A server may answer with another method than it was asked for, and a client without a secret has none to use.
    if (secret === undefined) return { ...known, method: 'none' };
    return { ...known, secret, method: knownMethod(method) ?? methodOf(metadata, { hasSecret: true, hasKey: false }) };
  } catch (thrown) {
    throw registrationFailure(name, metadata.issuer, redirectUrl, thrown);
  }
}

function clientMetadata({ metadata }: AuthorizationServer, clientName: string, redirectUrl: string) {
  const accepted = acceptedMethods(metadata);
  const method = (['client_secret_basic', 'client_secret_post', 'none'] as const).find((each) =>
    accepted.includes(each),
  );
  return {
    client_name: clientName,
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method ?? 'none',
    application_type: isLoopback(new URL(redirectUrl).hostname) ? 'native' : 'web',
  };
}

function knownMethod(method: unknown): TokenEndpointMethod | undefined {
  return (['none', 'client_secret_basic', 'client_secret_post'] as const).find((each) => each === method);
}

/** RFC 7591 §3.2.1 demands `client_secret_expires_at` with a secret; servers that leave it out mean that it has no end. */
async function withExpiry(response: Response): Promise<Response> {
  if (response.status !== 201) return response;
  const registered: unknown = await response.json();
  const isWhole = typeof registered === 'object' && registered !== null;
  return Response.json(isWhole ? { client_secret_expires_at: 0, ...registered } : registered, { status: 201 });
}

function registrationFailure(name: string, issuer: string, redirectUrl: string, thrown: unknown): ToolLayerError {
  const word = errorWordOf(thrown);
  if (word === undefined) return authorizationFailure(name, issuer, thrown);
  return new ToolLayerError(
    'E3307',
    `The authorization server ${issuer} of the upstream '${name}' refuses to register the layer with the redirect address ` +
      `${redirectUrl} (${word}). Register a client there, and state its client_id in the authorization of the upstream.`,
    { details: { reached: false } },
  );
}
