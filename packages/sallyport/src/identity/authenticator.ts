import { type Failure, isFailure } from '@sallyport/std/error/failure';
import type { CapabilityClaims, TokenExplanation } from '../../api/schemas/capability-token.ts';
import { type ApiKeys, isApiKey } from './api-keys.ts';
import type { TokenVerifier } from './capability-token.ts';
import { reasonsOf, told } from './token/explain-token.ts';
import { payloadOf } from './token/jws.ts';

/** Every kind of credential behind one question: capability tokens, access tokens, API keys (PRM-10). */
export interface Authenticator {
  /**
   * The claims behind what a caller presents: at once for an API key, and for a token that was seen before.
   * @returns as `TokenVerifier.verify` and `ApiKeys.identify` say
   */
  verify(presented: string | undefined): CapabilityClaims | Failure | Promise<CapabilityClaims | Failure>;
  /** All there is to say of a credential, which is not in the answer. Never rejects. */
  explain(presented: string): Promise<TokenExplanation>;
}

/** Tells credentials apart by their form; each is judged by what it claims to be, and by nothing else. */
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
        claims: refused ? [] : told(found),
        reasons: refused ? reasonsOf([found]) : [],
      };
    },
  };
}

/** What a token says of itself, whoever signed it. Absent where it says nothing, or nothing of that form. */
export interface UnverifiedToken {
  readonly jti?: string;
  readonly tenantId?: string;
  /** Epoch s. */
  readonly expiresAt?: number;
}

/** Longest id that a revocation takes; the wire contract allows no longer one either. */
const JTI_LENGTH_MAX = 1024;

/** Reads a token without judging it: only for naming it, never for trusting it. */
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
