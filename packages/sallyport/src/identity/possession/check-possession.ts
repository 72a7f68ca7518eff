import type { Clock } from '@sallyport/std/clock';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { sha256 } from '@sallyport/std/sha256';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { PresentedProof } from '../../domain/principal/presented-proof.ts';
import type { ProofIdStore } from '../proof-ids.port.ts';
import type { DpopNonces } from './dpop-nonces.ts';
import { ProofFault, type ReadProof, readProof } from './dpop-proof.ts';

/** Dependencies of the check. */
export interface PossessionParts {
  readonly clock: Clock;
  readonly ids: ProofIdStore;
  readonly nonces: DpopNonces;
  /** Address of the layer without path; empty: the `Host` of the request, over http. */
  readonly publicUrl: string;
  readonly asksNonce: boolean;
  /** Age up to which a proof is accepted; at most 300 000. */
  readonly proofMs: number;
  /** How far a sender's clock may be ahead; at most 300. */
  readonly clockSkewSeconds: number;
}

/**
 * Checks that the sender of a token holds the key that the token is bound to (`cnf.jkt`, RFC 9449 §7).
 * @param presented the token as it was sent
 * @param proof as it came with the request; undefined for a token that came without one
 * @returns undefined when the token may be used: it is bound to no key and came without proof, or the proof is good.
 *   E3216 when proof is missing or not good; E3217 when it needs the nonce of the layer. The same for the same proof: a
 *   proof is taken once for all that is asked within one request
 */
export type CheckPossession = (
  claims: Pick<CapabilityClaims, 'cnf'>,
  presented: string,
  proof: PresentedProof | undefined,
) => Failure | undefined | Promise<Failure | undefined>;

const PROOF_MS_MAX = 300_000;
const SKEW_SECONDS_MAX = 300;

/** Makes the check. Tokens without a key that come without proof cost one comparison. */
export function createPossessionCheck(parts: PossessionParts): CheckPossession {
  const judged = new WeakMap<PresentedProof, Promise<Failure | undefined>>();
  return ({ cnf }, presented, proof) => {
    if (proof === undefined) return cnf === undefined ? undefined : NO_PROOF;
    if (cnf === undefined) return NOT_BOUND;
    const known = judged.get(proof) ?? judge(parts, cnf.jkt, presented, proof);
    judged.set(proof, known);
    return known;
  };
}

const NO_PROOF = failure(
  'E3216',
  'The token is bound to a key, so it alone is not enough. Send it as "Authorization: DPoP <token>" with a proof in the header DPoP (RFC 9449), over HTTP.',
);
const NOT_BOUND = failure('E3216', 'The token is bound to no key. Send it as "Authorization: Bearer <token>".');

async function judge(
  parts: PossessionParts,
  jkt: string,
  token: string,
  proof: PresentedProof,
): Promise<Failure | undefined> {
  const origin = parts.publicUrl === '' ? `http://${proof.host}` : parts.publicUrl;
  let read: ReadProof;
  try {
    read = await readProof(proof, origin, token, new Date(parts.clock.now()));
  } catch (cause) {
    return refused(cause instanceof ProofFault ? cause.message : 'it cannot be read', cause);
  }
  if (read.thumbprint !== jkt) return refused('it is by another key than the one that the token is bound to');
  return untimely(parts, read) ?? (await repeated(parts, read));
}

/** The nonce last: a client whose clock is off learns that, rather than to try again. */
function untimely(
  { clock, asksNonce, nonces, ...parts }: PossessionParts,
  { iat, nonce }: ReadProof,
): Failure | undefined {
  const age = clock.now() - iat * 1000;
  if (age > proofMsOf(parts) || age < -skewMsOf(parts))
    return refused('its iat is too far from the time of the layer. Check the clock of the client');
  if (!asksNonce || (nonce !== undefined && nonces.accepts(nonce))) return undefined;
  return failure(
    'E3217',
    'The proof (DPoP) needs the nonce in the header DPoP-Nonce of this answer. Make a new one with it.',
  );
}

async function repeated(
  { ids, ...parts }: PossessionParts,
  { thumbprint, jti }: ReadProof,
): Promise<Failure | undefined> {
  const isFirst = await ids.take(sha256(`${thumbprint} ${jti}`), proofMsOf(parts) + skewMsOf(parts));
  return isFirst ? undefined : refused('it was used before. Make a new one for each request');
}

type Times = Pick<PossessionParts, 'proofMs' | 'clockSkewSeconds'>;

const proofMsOf = ({ proofMs }: Times): number => Math.min(proofMs, PROOF_MS_MAX);

const skewMsOf = ({ clockSkewSeconds }: Times): number =>
  Math.max(0, Math.min(clockSkewSeconds, SKEW_SECONDS_MAX)) * 1000;

function refused(why: string, cause?: unknown): Failure {
  return failure('E3216', `The proof (DPoP) is not accepted: ${why}.`, cause === undefined ? {} : { cause });
}
