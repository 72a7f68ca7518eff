import { constants, type KeyObject, type VerifyKeyObjectInput, verify } from 'node:crypto';

/** How signatures of one algorithm are verified, and the keys that it goes with. */
interface SignatureKind {
  /** Undefined where the algorithm has its own. */
  readonly hash?: string;
  readonly type: 'rsa' | 'ec' | 'ed25519';
  /** Of elliptic curves: the curve, as OpenSSL names it. */
  readonly curve?: string;
  readonly options?: Readonly<Pick<VerifyKeyObjectInput, 'padding' | 'saltLength' | 'dsaEncoding'>>;
}

const pkcs1 = (hash: string): SignatureKind => ({
  hash,
  type: 'rsa',
  options: { padding: constants.RSA_PKCS1_PADDING },
});
const pss = (hash: string): SignatureKind => ({
  hash,
  type: 'rsa',
  options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
});
const ecdsa = (hash: string, curve: string): SignatureKind => ({
  hash,
  type: 'ec',
  curve,
  options: { dsaEncoding: 'ieee-p1363' },
});
const EDWARDS: SignatureKind = { type: 'ed25519' };

/** Signatures that can be configured (RFC 7518 §3.1, RFC 8037). Symmetric ones and `none` are not among them. */
export const ALGORITHMS = {
  RS256: pkcs1('sha256'),
  RS384: pkcs1('sha384'),
  RS512: pkcs1('sha512'),
  PS256: pss('sha256'),
  PS384: pss('sha384'),
  PS512: pss('sha512'),
  ES256: ecdsa('sha256', 'prime256v1'),
  ES384: ecdsa('sha384', 'secp384r1'),
  ES512: ecdsa('sha512', 'secp521r1'),
  EdDSA: EDWARDS,
  Ed25519: EDWARDS,
} as const satisfies Record<string, SignatureKind>;

/** The closed set of algorithms. */
export type Algorithm = keyof typeof ALGORITHMS;

/** RSA keys below are too weak, above too slow: whoever publishes keys must not make verification expensive. */
const RSA_BITS_MIN = 2048;
const RSA_BITS_MAX = 8192;
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/** Why a key is not used, to follow its document's name; undefined when it is. */
export function keyFault({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): string | undefined {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails;
  if (asymmetricKeyType === 'ed25519') return undefined;
  if (asymmetricKeyType === 'ec')
    return CURVES.has(namedCurve) ? undefined : 'must hold keys on the curves P-256, P-384 or P-521.';
  if (asymmetricKeyType !== 'rsa') return 'must hold RSA, EC or Ed25519 keys.';
  if (modulusLength >= RSA_BITS_MIN && modulusLength <= RSA_BITS_MAX) return undefined;
  return `must hold RSA keys of ${RSA_BITS_MIN} bits or more, ${RSA_BITS_MAX} at most.`;
}

/** Algorithms that go with each key; to ask a key for its kind takes as long as a signature. */
const fitting = new WeakMap<KeyObject, ReadonlySet<string>>();

/** Whether a key can have made a signature by an algorithm. */
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
    ([, { type, curve }]) =>
      type === asymmetricKeyType && (curve === undefined || curve === asymmetricKeyDetails?.namedCurve),
  );
  return new Set(own.map(([name]) => name));
}

/** Whether a text names one of them, exactly. */
export function isAlgorithm(text: string): text is Algorithm {
  return Object.hasOwn(ALGORITHMS, text);
}

/**
 * Whether a key made a signature. Synchronous, because the work takes 30 µs and waiting for another thread takes longer.
 * @param key one that fits the algorithm
 */
export function isSignedBy(key: KeyObject, algorithm: Algorithm, text: string, signature: Buffer): boolean {
  const { hash, options }: SignatureKind = ALGORITHMS[algorithm];
  return verify(hash ?? null, Buffer.from(text), { key, ...options }, signature);
}
