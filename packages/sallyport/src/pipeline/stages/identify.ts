import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { CapabilityClaims, TrustLevel } from '../../../api/schemas/capability-token.ts';
import type { Caller, Principal } from '../../domain/principal/principal.ts';

/** Who asks, and the token that says so. */
export interface Identity {
  readonly principal: Principal;
  readonly claims: CapabilityClaims;
}

/**
 * Establishes who asks from what the door knows.
 * @param token from the request's body; the door's own wins when both are there
 */
export type Identify = (caller: Caller, token?: string) => Promise<Identity | Failure>;

/** Who asked for a call that was accepted before; its token was verified then. */
export type IdentifyAgain = (claims: CapabilityClaims) => Identity & { readonly refused?: Failure };

/** Verifies tokens; synchronous when the token was seen before. */
export type VerifyToken = (
  token: string | undefined,
) => CapabilityClaims | Failure | Promise<CapabilityClaims | Failure>;

/** What holds where a caller, or its token, says nothing. */
export interface IdentifyOptions {
  /** Claims of callers without a token, always the same object; absent where tokens are required (PRM-02). */
  readonly withoutToken?: CapabilityClaims;
  /** Of callers whose token names no trust level; default trusted (PRM-06). */
  readonly defaultTrust?: TrustLevel;
}

/** A token that is presented must be good: nobody falls back to what callers without one may do. */
export function createIdentify(
  verify: VerifyToken,
  { withoutToken, defaultTrust = 'trusted' }: IdentifyOptions = {},
): Identify {
  const identities = new WeakMap<CapabilityClaims, Identity>();
  const identityOf = (claims: CapabilityClaims): Identity => {
    const known = identities.get(claims);
    if (known !== undefined) return known;
    const identity = { claims, principal: principalOf(claims, defaultTrust) };
    identities.set(claims, identity);
    return identity;
  };
  return async (caller, token) => {
    const presented = caller.token ?? token;
    if (presented === undefined && withoutToken !== undefined) return identityOf(withoutToken);
    const verified = await verify(presented);
    return isFailure(verified) ? verified : identityOf(verified);
  };
}

/**
 * A call that waited goes on although its token ended meanwhile: it was good when the call was accepted. One that was
 * revoked is not: somebody wanted it to end (PRM-01).
 */
export function createIdentifyAgain(
  isRevoked: (claims: CapabilityClaims) => boolean,
  { defaultTrust = 'trusted' }: Pick<IdentifyOptions, 'defaultTrust'> = {},
): IdentifyAgain {
  return (claims) => {
    const identity = { claims, principal: principalOf(claims, defaultTrust) };
    if (!isRevoked(claims)) return identity;
    return {
      ...identity,
      refused: failure('E3208', 'The token or key of this call was revoked while the call waited.'),
    };
  };
}

function principalOf(claims: CapabilityClaims, defaultTrust: TrustLevel): Principal {
  return {
    tenantId: claims.tenant_id,
    agentDid: claims.agent_did,
    roles: claims.roles ?? ['agent'],
    trust: claims.trust_level ?? defaultTrust,
    ...(claims.user_did === undefined ? {} : { userDid: claims.user_did }),
    ...(claims.session_id === undefined ? {} : { sessionId: claims.session_id }),
  };
}
