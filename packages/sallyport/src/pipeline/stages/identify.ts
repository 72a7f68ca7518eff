import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { CapabilityClaims, TrustLevel } from '../../../api/schemas/capability-token.ts';
import type { Caller, Principal } from '../../domain/principal/principal.ts';

/** The principal, and the claims of its token. */
export interface Identity {
  readonly principal: Principal;
  readonly claims: CapabilityClaims;
}

/**
 * Establishes the principal from what the door knows.
 * @param token from the request's body; the door's own token takes precedence
 */
export type Identify = (caller: Caller, token?: string) => Promise<Identity | Failure>;

/** Restores the principal of a call that was accepted before; its token was verified then. */
export type IdentifyAgain = (claims: CapabilityClaims) => Identity & { readonly refused?: Failure };

/** Verifies tokens; synchronous when the token was seen before. */
export type VerifyToken = (
  token: string | undefined,
) => CapabilityClaims | Failure | Promise<CapabilityClaims | Failure>;

/**
 * Checks that a caller holds the key that its token is bound to; undefined when the token may be used.
 * @param proof as it came with the request; undefined for a token that came without one
 */
export type CheckPossession = (
  claims: CapabilityClaims,
  presented: string,
  proof: Caller['proof'],
) => Failure | undefined | Promise<Failure | undefined>;

/** Defaults for callers without a token, and for tokens that omit a member. */
export interface IdentifyOptions {
  /** Claims of callers without a token, always the same object; absent where tokens are required (PRM-02). */
  readonly withoutToken?: CapabilityClaims;
  /** Trust level of callers whose token names none (PRM-06). */
  readonly defaultTrust: TrustLevel;
  readonly checkPossession: CheckPossession;
}

/** Verifies every token that is presented: a bad token never falls back to the rights of callers without one. */
export function createIdentify(
  verify: VerifyToken,
  { withoutToken, defaultTrust, checkPossession }: IdentifyOptions,
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
    if (isFailure(verified)) return verified;
    const { server_audiences: servers } = verified;
    if (servers !== undefined && (caller.server === undefined || !servers.includes(caller.server)))
      return OTHER_ADDRESS;
    // Fast path: a token that is bound to no key, and came without proof.
    if (verified.cnf !== undefined || caller.proof !== undefined) {
      const refused = await checkPossession(verified, presented ?? '', caller.proof);
      if (refused !== undefined) return refused;
    }
    return identityOf(verified);
  };
}

const OTHER_ADDRESS = failure(
  'E3201',
  'The access token is meant for the address of another server. Ask for one with this resource.',
);

/**
 * A call that waited resumes although its token has expired meanwhile: it was valid when the call was accepted. A
 * revoked token stops the call: somebody wanted it to end (PRM-01).
 * @param defaultTrust trust level of callers whose token names none
 */
export function createIdentifyAgain(
  isRevoked: (claims: CapabilityClaims) => boolean,
  defaultTrust: TrustLevel,
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
