import { type Failure, failure } from '@sallyport/std/error/failure';
import type { KeySource } from '../key-source.ts';
import type { Algorithm } from '../keys/algorithms.ts';
import { JwsFault, payloadOf, type VerifiedJws, verifyJws } from './jws.ts';

/** Retry delay for a caller whose token cannot be verified because its issuer's keys are unavailable, in ms. */
const KEYS_RETRY_MS = 10_000;

/** Keys and signature rules for tokens of one kind. */
export interface SignatureOptions {
  readonly keys: KeySource;
  readonly algorithms: readonly Algorithm[];
  /** Accepted `typ`, in lower case and without `application/` (RFC 7515 §4.1.9); undefined accepts a token without one. */
  readonly types: readonly (string | undefined)[];
  /** Name of the kind in messages. */
  readonly what: string;
}

/**
 * Verifies the signature of a token of one kind. For an unknown key, the source is refreshed first.
 * @returns E3201 saying what is wrong; E3206 when the keys of its issuer are unavailable
 */
export async function verifySigned(token: string, options: SignatureOptions): Promise<VerifiedJws | Failure> {
  try {
    const verified = await verifyWithLook(token, options);
    const type = plainType(verified.header.typ);
    if (options.types.includes(type)) return verified;
    const wanted = options.types.map((each) => each ?? 'none').join(' or ');
    return failure('E3201', `The ${options.what} has the type ${JSON.stringify(type ?? 'none')}, not ${wanted}.`);
  } catch (cause) {
    const why = cause instanceof JwsFault ? cause.message : 'it cannot be read';
    const problem = cause instanceof JwsFault && cause.unknownKey ? options.keys.problem(issuerOf(token)) : undefined;
    if (problem !== undefined) {
      const message = `The ${options.what} cannot be judged, so it is not accepted: the keys of its issuer cannot be had.`;
      return failure('E3206', message, { cause: problem, retryAfterMs: KEYS_RETRY_MS });
    }
    const signed = `a JWT signed by a known key with ${options.algorithms.join(' or ')}`;
    return failure('E3201', `The ${options.what} is not ${signed}: ${why}. Ask for a new one.`, { cause });
  }
}

async function verifyWithLook(token: string, { keys, algorithms }: SignatureOptions): Promise<VerifiedJws> {
  try {
    return await verifyJws(token, keys.keys(), algorithms);
  } catch (fault) {
    if (!(fault instanceof JwsFault && fault.unknownKey && (await keys.lookAgain()))) throw fault;
    return verifyJws(token, keys.keys(), algorithms);
  }
}

/** `JWT`, `application/jwt` and `jwt` are the same type. */
export function plainType(typ: string | undefined): string | undefined {
  return typ?.toLowerCase().replace(/^application\//, '');
}

/** The issuer named by an unverified token; only for choosing the rules to verify it by. */
export function issuerOf(token: string): string | undefined {
  try {
    const { iss } = payloadOf(token);
    return typeof iss === 'string' ? iss : undefined;
  } catch {
    return undefined;
  }
}
