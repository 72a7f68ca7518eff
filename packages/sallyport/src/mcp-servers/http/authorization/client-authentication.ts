import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { importJWK, importPKCS8, type CryptoKey as Key } from 'jose';
import { type ClientAuth, ClientSecretPost, None, PrivateKeyJwt, type ServerMetadata } from 'openid-client';
import type { TokenEndpointMethod, UpstreamAuthorization } from '../../../../api/schemas/upstream-authorization.ts';
import type { KnownClient } from './authorization-state.ts';

/** RFC 8414 §2: what a server accepts that does not say. */
const ACCEPTED_DEFAULT = ['client_secret_basic'];
const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'] as const;
const ALGORITHM_DEFAULT = 'ES256';

/** Methods that a server accepts at its token endpoint. */
export const acceptedMethods = (server: ServerMetadata): readonly string[] =>
  server.token_endpoint_auth_methods_supported ?? ACCEPTED_DEFAULT;

/** The method of a client with these means, as the server accepts it. */
export function methodOf(
  server: ServerMetadata,
  { hasSecret, hasKey }: { readonly hasSecret: boolean; readonly hasKey: boolean },
): TokenEndpointMethod {
  if (hasKey) return 'private_key_jwt';
  if (!hasSecret) return 'none';
  return SECRET_METHODS.find((method) => acceptedMethods(server).includes(method)) ?? 'client_secret_basic';
}

/**
 * How the client identifies itself at the token endpoint.
 * @param secretOf reads a secret by its reference, as a definition has it
 * @throws E3302 for a missing secret, or a key that cannot be read
 */
export async function authenticationOf(
  { secret, method }: KnownClient,
  { client_secret: secretName, private_key: keyName }: UpstreamAuthorization,
  server: ServerMetadata,
  secretOf: (reference: string) => Promise<string>,
): Promise<ClientAuth> {
  if (method === 'none') return None();
  if (method === 'private_key_jwt') {
    if (keyName === undefined) throw missing('private_key');
    const [algorithm = ALGORITHM_DEFAULT] = server.token_endpoint_auth_signing_alg_values_supported ?? [];
    return PrivateKeyJwt(await privateKeyOf(await secretOf(keyName), algorithm));
  }
  const value = secret ?? (secretName === undefined ? undefined : await secretOf(secretName));
  if (value === undefined) throw missing('client_secret');
  return method === 'client_secret_post' ? ClientSecretPost(value) : clientSecretBasic(value);
}

/**
 * RFC 6749 §2.3.1. The library's own also encodes characters that need it nowhere, such as `-`, and servers that do not
 * decode them refuse such a client.
 */
function clientSecretBasic(secret: string): ClientAuth {
  const encoded = (text: string): string => new URLSearchParams({ _: text }).toString().slice(2);
  return (_server, { client_id: id }, _body, headers) => {
    const pair = Buffer.from(`${encoded(id)}:${encoded(secret)}`).toString('base64');
    headers.set('authorization', `Basic ${pair}`);
  };
}

async function privateKeyOf(text: string, algorithm: string): Promise<Key> {
  try {
    if (!text.trimStart().startsWith('{')) return await importPKCS8(text, algorithm);
    const key = await importJWK(JSON.parse(text), algorithm);
    if (key instanceof CryptoKey) return key;
  } catch {
    // The error may quote the key.
  }
  throw new ToolLayerError('E3302', `The private_key is no ${algorithm} key in PKCS #8 or JWK.`, {
    details: { reached: false },
  });
}

function missing(member: string): ToolLayerError {
  return new ToolLayerError('E3302', `The authorization of the upstream needs a ${member}. Name its secret there.`, {
    details: { reached: false },
  });
}
