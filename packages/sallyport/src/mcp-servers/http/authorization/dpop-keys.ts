import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { JWK } from 'jose';
import { type CryptoKeyPair, randomDPoPKeyPair, type ServerMetadata } from 'openid-client';

/** Algorithms of proofs, in order of preference, with the parameters by which a stored key is read. */
const ALGORITHMS = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  ES384: { name: 'ECDSA', namedCurve: 'P-384' },
  EdDSA: { name: 'Ed25519' },
  Ed25519: { name: 'Ed25519' },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256' },
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
} as const;
const NAMES = Object.keys(ALGORITHMS) as (keyof typeof ALGORITHMS)[];
/** Members of a JWK that are private. */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** True when the server binds tokens to keys that the layer can make. */
export const bindsTokens = (server: ServerMetadata): boolean => algorithmFor(server) !== undefined;

/** A new private key for tokens of this server. @throws E3307 when it binds none */
export async function newDpopKey(server: ServerMetadata): Promise<JWK> {
  const algorithm = algorithmFor(server);
  if (algorithm === undefined) {
    throw new ToolLayerError('E3307', `The authorization server ${server.issuer} binds no tokens to keys (DPoP).`, {
      details: { reached: false },
    });
  }
  const { privateKey } = await randomDPoPKeyPair(algorithm, { extractable: true });
  return { ...(await crypto.subtle.exportKey('jwk', privateKey)), alg: algorithm };
}

/** The pair of a stored private key. */
export async function dpopKeyPair(key: JWK): Promise<CryptoKeyPair> {
  const parameters = ALGORITHMS[NAMES.find((name) => name === key.alg) ?? 'ES256'];
  const { key_ops: _, ...bare } = key;
  const open = Object.fromEntries(Object.entries(bare).filter(([member]) => !PRIVATE.includes(member)));
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey('jwk', { ...bare, ext: true }, parameters, false, ['sign']),
    crypto.subtle.importKey('jwk', { ...open, ext: true }, parameters, true, ['verify']),
  ]);
  return { privateKey, publicKey };
}

function algorithmFor({ dpop_signing_alg_values_supported: known = [] }: ServerMetadata) {
  return NAMES.find((name) => known.includes(name));
}
