import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { JWK } from 'jose';
import { ClientSecretPost, None } from 'openid-client';
import type { IdentityProvider } from '../../../../api/schemas/identity/upstream-authorization.ts';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import type { TokenSource, Tokens } from './authorization-state.ts';
import type { AuthorizationContext, Discovered } from './context.ts';
import { readAuthorizationServer } from './discovery/authorization-server.ts';
import { bindsTokens, newDpopKey } from './dpop-keys.ts';
import { clientCredentials, identityAssertion, jwtBearer } from './token-endpoint.ts';

/** Tokens that nobody had to log in for. */
interface MachineTokens {
  readonly tokens: Tokens;
  readonly dpopKey: JWK | undefined;
}

/**
 * Asks for tokens without a person: once, and by the stated grant alone.
 * @param secrets credentials of the caller, which the assertions may be
 * @param found absent when a token is asked for again
 * @throws E3302 for a missing secret; see `authorizationFailure`
 */
export async function requestTokens(
  context: AuthorizationContext,
  source: TokenSource,
  scopes: readonly string[],
  secrets: SecretStore,
  found: Discovered | undefined,
  keyBefore: JWK | undefined,
): Promise<MachineTokens> {
  const isBound = found === undefined ? keyBefore !== undefined : await context.wantsDpop(found);
  const isPossible = context.settings.dpop === true || bindsTokens(source.server);
  const dpopKey = isBound && isPossible ? (keyBefore ?? (await newDpopKey(source.server))) : undefined;
  const tokens = await request(context, source, scopes, secrets, dpopKey);
  return { tokens, dpopKey };
}

async function request(
  context: AuthorizationContext,
  source: TokenSource,
  scopes: readonly string[],
  secrets: SecretStore,
  dpopKey: JWK | undefined,
): Promise<Tokens> {
  const { settings } = context;
  const endpoint = await context.endpointOf(source, dpopKey);
  const scope: Record<string, string> = scopes.length === 0 ? {} : { scope: scopes.join(' ') };
  const parameters = { resource: source.resource, ...scope };
  if (settings.grant === 'client_credentials') return clientCredentials(endpoint, parameters);
  if (settings.grant === 'jwt_bearer') {
    const reference = stated(settings.assertion, 'assertion');
    return jwtBearer(endpoint, await context.secretOf(reference, secrets), parameters);
  }
  const provider = stated(settings.identity_provider, 'identity_provider');
  return jwtBearer(endpoint, await grantOf(context, provider, source, scopes, secrets), scope);
}

/** The grant of an enterprise's identity provider for the authorization server of the upstream. */
async function grantOf(
  context: AuthorizationContext,
  { issuer, client_id: clientId, client_secret: secretName, id_token: idToken }: IdentityProvider,
  { server, resource }: TokenSource,
  scopes: readonly string[],
  secrets: SecretStore,
): Promise<string> {
  const { subject, parts, send } = context;
  const found = await readAuthorizationServer(subject.name, issuer, send);
  if (found === undefined) throw noProvider(issuer);
  const secret = secretName === undefined ? undefined : await context.secretOf(secretName, parts.secrets);
  const provider = {
    name: subject.name,
    server: found.metadata,
    clientId,
    authentication: secret === undefined ? None() : ClientSecretPost(secret),
    send,
    now: () => parts.clock.now(),
  };
  const target = { issuer: server.issuer, resource, scopes };
  return identityAssertion(provider, await context.secretOf(idToken, secrets), target);
}

function stated<Value>(value: Value | undefined, member: string): Value {
  if (value !== undefined) return value;
  throw new ToolLayerError('E3801', `The grant of the upstream's authorization needs its member ${member}.`);
}

const noProvider = (issuer: string): ToolLayerError =>
  new ToolLayerError('E3307', `The identity provider ${issuer} has no metadata.`, { details: { reached: false } });
