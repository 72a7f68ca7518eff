import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import { type Failure, isFailure } from '../../domain/error/failure.ts';
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
export type Identify = (caller: Caller, token?: string) => Identity | Failure | Promise<Identity | Failure>;

/** Verifies tokens; synchronous when the token was seen before. */
export type VerifyToken = (
  token: string | undefined,
) => CapabilityClaims | Failure | Promise<CapabilityClaims | Failure>;

/**
 * @param developmentClaims claims of callers without a token; absent where tokens are required (PRM-02)
 */
export function createIdentify(verify: VerifyToken, developmentClaims?: () => CapabilityClaims): Identify {
  const identities = new WeakMap<CapabilityClaims, Identity>();
  const identityOf = (claims: CapabilityClaims): Identity => {
    const known = identities.get(claims);
    if (known !== undefined) return known;
    const identity = { claims, principal: principalOf(claims) };
    identities.set(claims, identity);
    return identity;
  };
  const answer = (verified: CapabilityClaims | Failure): Identity | Failure =>
    isFailure(verified) ? verified : identityOf(verified);

  return (caller, token) => {
    const presented = caller.token ?? token;
    if (presented === undefined && developmentClaims !== undefined) return identityOf(developmentClaims());
    const verified = verify(presented);
    return verified instanceof Promise ? verified.then(answer) : answer(verified);
  };
}

function principalOf(claims: CapabilityClaims): Principal {
  return {
    tenantId: claims.tenant_id,
    agentDid: claims.agent_did,
    roles: claims.roles ?? ['agent'],
    trust: claims.trust_level ?? 'trusted',
    ...(claims.user_did === undefined ? {} : { userDid: claims.user_did }),
    ...(claims.session_id === undefined ? {} : { sessionId: claims.session_id }),
  };
}
