import { hash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** What a proof says, where it differs from the honest one. */
export interface ProofChanges {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: { readonly typ?: string; readonly jwk?: JWK };
}

/** A client's key, which its tokens are bound to (RFC 9449). */
export interface DpopKey {
  readonly thumbprint: string;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
  /** A proof for one request with a token. Undefined claims are left out. */
  proof(method: string, url: string, token: string, changes?: ProofChanges): Promise<string>;
}

/** Makes a key. */
export async function dpopKey(alg = 'ES256'): Promise<DpopKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  return {
    publicJwk,
    privateJwk: await exportJWK(privateKey),
    thumbprint: await calculateJwkThumbprint(publicJwk),
    proof: (method, url, token, { claims = {}, header = {} } = {}) => {
      const honest = {
        htm: method,
        htu: url,
        ath: hash('sha256', token, 'base64url'),
        jti: randomUUID(),
        iat: Math.floor(Date.now() / 1000),
      };
      return new SignJWT({ ...honest, ...claims })
        .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk: publicJwk, ...header })
        .sign(privateKey);
    },
  };
}

/** A nonce of the server: the answer to a proof without one brings it. */
export async function nonceOf(url: string, token: string, key: DpopKey): Promise<string> {
  const response = await fetch(url, {
    headers: { authorization: `DPoP ${token}`, dpop: await key.proof('GET', url, token) },
  });
  await response.arrayBuffer();
  return response.headers.get('dpop-nonce') ?? '';
}
