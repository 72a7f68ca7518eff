import { type Failure, isFailure } from '@sallyport/std/error/failure';
import type { CapabilityClaims, TokenExplanation } from '../../api/schemas/capability-token.ts';
import { type ApiKeys, isApiKey } from './api-keys.ts';
import type { TokenVerifier } from './capability-token.ts';
import { listedClaims, reasonsOf } from './token/explain-token.ts';
import { payloadOf } from './token/jws.ts';

/** One interface for every kind of credential: capability tokens, access tokens, API keys (PRM-10). */
export interface Authenticator {
  /**
   * The claims of a presented credential; synchronous for an API key and for a token seen before.
   * @returns as `TokenVerifier.verify` and `ApiKeys.identify` say
   */
  verify(presented: string | undefined): CapabilityClaims | Failure | Promise<CapabilityClaims | Failure>;
  /** Explains a credential in full, without repeating it. Never rejects. */
  explain(presented: string): Promise<TokenExplanation>;
}

/** Distinguishes credentials by their form; each is judged only by the rules of the kind it claims to be. */
export function createAuthenticator(tokens: TokenVerifier, apiKeys: Pick<ApiKeys, 'identify'>): Authenticator {
  return {
    verify: (presented) =>
      presented !== undefined && isApiKey(presented) ? apiKeys.identify(presented) : tokens.verify(presented),
    async explain(presented) {
      if (!isApiKey(presented)) return tokens.explain(presented);
      const found = apiKeys.identify(presented);
      const refused = isFailure(found);
      return {
        kind: 'api_key',
        accepted: !refused,
        claims: refused ? [] : listedClaims(found),
        reasons: refused ? reasonsOf([found]) : [],
      };
    },
  };
}

/** A token's own statements; the signature is not checked. Members are absent when missing or malformed. */
export interface UnverifiedToken {
  readonly jti?: string;
  readonly tenantId?: string;
  /** Epoch s. */
  readonly expiresAt?: number;
}

/** Longest id that a revocation takes; equal to the limit of the wire contract. */
const JTI_LENGTH_MAX = 1024;

/** Reads a token without verifying it: only to name it, never to trust it. */
export function readUnverified(token: string): UnverifiedToken {
  try {
    const { jti, tenant_id: tenantId, exp } = payloadOf(token);
    return {
      ...(typeof jti === 'string' && jti !== '' && jti.length <= JTI_LENGTH_MAX ? { jti } : {}),
      ...(typeof tenantId === 'string' && tenantId !== '' ? { tenantId } : {}),
      ...(typeof exp === 'number' && Number.isFinite(exp) ? { expiresAt: exp } : {}),
    };
  } catch {
    return {};
  }
}
