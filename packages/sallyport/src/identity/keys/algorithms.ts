import type { KeyObject } from 'node:crypto';

/** The keys that fit signatures of one algorithm. */
interface SignatureKind {
  readonly type: 'rsa' | 'ec' | 'ed25519';
  /** Elliptic curve, by its OpenSSL name. */
  readonly curve?: string;
}

const RSA: SignatureKind = { type: 'rsa' };
const EDWARDS: SignatureKind = { type: 'ed25519' };

/** Signatures that can be configured (RFC 7518 §3.1, RFC 8037). Symmetric ones and `none` are not among them. */
export const ALGORITHMS = {
  RS256: RSA,
  RS384: RSA,
  RS512: RSA,
  PS256: RSA,
  PS384: RSA,
  PS512: RSA,
  ES256: { type: 'ec', curve: 'prime256v1' },
  ES384: { type: 'ec', curve: 'secp384r1' },
  ES512: { type: 'ec', curve: 'secp521r1' },
  EdDSA: EDWARDS,
  Ed25519: EDWARDS,
} as const satisfies Record<string, SignatureKind>;

/** The closed set of algorithms. */
export type Algorithm = keyof typeof ALGORITHMS;

/** Smaller RSA keys are too weak, larger ones too slow: a publisher of keys must not make verification expensive. */
const RSA_BITS_MIN = 2048;
const RSA_BITS_MAX = 8192;
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/** Why a key is unusable, as a sentence after its document's name; undefined when usable. */
export function keyFault({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): string | undefined {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails;
  if (asymmetricKeyType === 'ed25519') return undefined;
  if (asymmetricKeyType === 'ec')
    return CURVES.has(namedCurve) ? undefined : 'must hold keys on the curves P-256, P-384 or P-521.';
  if (asymmetricKeyType !== 'rsa') return 'must hold RSA, EC or Ed25519 keys.';
  if (modulusLength >= RSA_BITS_MIN && modulusLength <= RSA_BITS_MAX) return undefined;
  return `must hold RSA keys of ${RSA_BITS_MIN} bits or more, ${RSA_BITS_MAX} at most.`;
}

/** Algorithms that fit each key, cached: asking a key for its type takes as long as a signature. */
const fitting = new WeakMap<KeyObject, ReadonlySet<string>>();

/** True when a key can have made a signature by an algorithm. */
export function fitsAlgorithm(key: KeyObject, algorithm: string): boolean {
  let known = fitting.get(key);
  if (known === undefined) {
    known = algorithmsOf(key);
    fitting.set(key, known);
  }
  return known.has(algorithm);
}

function algorithmsOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): ReadonlySet<string> {
  const kinds: [string, SignatureKind][] = Object.entries(ALGORITHMS);
  const own = kinds.filter(
    ([, { type, curve }]) => type === asymmetricKeyType && curve === asymmetricKeyDetails?.namedCurve,
  );
  return new Set(own.map(([name]) => name));
}

/** Whether a text names one of them, exactly. */
export function isAlgorithm(text: string): text is Algorithm {
  return Object.hasOwn(ALGORITHMS, text);
}
