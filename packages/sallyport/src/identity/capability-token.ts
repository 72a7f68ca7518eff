import type { Clock } from '@sallyport/std/clock';
import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { CapabilityClaims, TokenExplanation } from '../../api/schemas/capability-token.ts';
import type { KeySource, VerificationKey } from './key-source.ts';
import type { Algorithm } from './keys/algorithms.ts';
import { type AccessTokenOptions, accessTokenReader, opaqueTokenReader } from './token/access-token.ts';
import { FOREIGN_ISSUER, frozen, readClaims } from './token/claims.ts';
import { explainOpaque, explainToken } from './token/explain-token.ts';
import { COMPACT } from './token/jws.ts';
import { issuerOf, verifySigned } from './token/signed-token.ts';
import { type TokenReader, verifiedTokens } from './token/verified-tokens.ts';

export { type Algorithm, isAlgorithm } from './keys/algorithms.ts';

/** `typ` of a capability token: none, or JWT. A token made for something else is not one (RFC 8725 §3.11). */
const TYPES: readonly (string | undefined)[] = [undefined, 'jwt'];

/** Trust settings of a verifier. */
export interface TokenVerifierOptions {
  readonly keys: KeySource;
  /** Accepted `iss` values, exact. */
  readonly issuers: readonly string[];
  /** The layer's own issuer: only its tokens may name a root holder, the claim of others is dropped. */
  readonly ownIssuer: string;
  /** Accepted `alg` values. Symmetric algorithms and none cannot be configured. */
  readonly algorithms: readonly Algorithm[];
  /** Names of this layer in `aud`; a token with `aud` must name one of them. */
  readonly audiences: readonly string[];
  /** At most 300. */
  readonly clockSkewSeconds: number;
  /** Called on every use of a token, cached or not, so it must be fast. */
  readonly isRevoked: (claims: CapabilityClaims) => boolean;
  /** Access tokens of an authorization server, accepted beside capability tokens (PRM-10). Default: none. */
  readonly accessTokens?: AccessTokenOptions;
  readonly clock: Clock;
}

/** Verifies capability tokens (PRM-01, 000 §4.1.1), and access tokens where they are configured. */
export interface TokenVerifier {
  /**
   * The claims of a token: synchronously when it was verified before, else a promise that never rejects. Claims are
   * frozen and the same object for the same token.
   * @returns E3212 no token; E3201 not by a configured key, algorithm, issuer or audience, not yet valid, too long, or
   *   malformed; E3202 expired; E3206 the keys of its issuer are unavailable; E3207 claims are missing; E3208 revoked
   */
  verify(token: string | undefined): CapabilityClaims | Failure | Promise<CapabilityClaims | Failure>;
  /**
   * Explains a token claim by claim, with every reason for a refusal; the token itself is not repeated. Never rejects.
   */
  explain(token: string): Promise<TokenExplanation>;
}

/** Makes a verifier with its own cache of verified tokens, keyed by SHA-256 of the token. */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { clock, accessTokens } = options;
  const readCapability = capabilityReader(options);
  const readAccess = accessTokens === undefined ? undefined : accessTokenReader(accessTokens);
  const isAccess = (token: string): boolean => accessTokens !== undefined && issuerOf(token) === accessTokens.issuer;
  const readOpaque =
    accessTokens?.introspect === undefined
      ? undefined
      : opaqueTokenReader(accessTokens, accessTokens.introspect, clock);
  const read: TokenReader = (token) => {
    if (readOpaque !== undefined && !COMPACT.test(token)) return readOpaque(token);
    return readAccess !== undefined && isAccess(token) ? readAccess(token) : readCapability(token);
  };
  return {
    verify: verifiedTokens(read, options),
    explain: (token) => {
      const isOpaque = readOpaque !== undefined && !COMPACT.test(token);
      const kind = isOpaque || isAccess(token) ? 'access_token' : 'capability_token';
      return (isOpaque ? explainOpaque : explainToken)(token, { ...options, kind, read });
    },
  };
}

function capabilityReader({ keys, algorithms, issuers, ownIssuer, audiences }: TokenVerifierOptions): TokenReader {
  const signature = { keys, algorithms, types: TYPES, what: 'capability token' };
  return async (token) => {
    const verified = await verifySigned(token, signature);
    if (isFailure(verified)) return verified;
    const read = readClaims(verified.payload);
    if (isFailure(read)) return read;
    const claims = read.iss === ownIssuer ? read : withoutRootHolder(read);
    return trustFault(claims, verified.key, issuers, audiences) ?? { claims, key: verified.key };
  };
}

/** Another issuer may name its subjects, but not a person of this layer as their user. */
function withoutRootHolder(claims: CapabilityClaims): CapabilityClaims {
  const { root_holder: _ignored, ...rest } = claims;
  return frozen(rest);
}

/** Checks whose result never changes for a token. */
function trustFault(
  claims: CapabilityClaims,
  key: VerificationKey,
  issuers: readonly string[],
  audiences: readonly string[],
): Failure | undefined {
  const speaksFor = key.issuers ?? issuers;
  // A key speaks only for its own issuer.
  if (!issuers.includes(claims.iss) || !speaksFor.includes(claims.iss)) return FOREIGN_ISSUER;
  const meantFor = claims.aud === undefined ? undefined : [claims.aud].flat();
  if (meantFor !== undefined && !meantFor.some((audience) => audiences.includes(audience)))
    return failure('E3201', 'The capability token is meant for another audience.');
  return undefined;
}
