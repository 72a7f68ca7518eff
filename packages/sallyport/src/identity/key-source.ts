import type { KeyObject } from 'node:crypto';

/** A public key that may have signed a token. */
export interface VerificationKey {
  /** As the key's owner names it in a JWKS, else its RFC 7638 thumbprint (SHA-256). */
  readonly kid: string;
  readonly key: KeyObject;
  /** The owner gave the `kid`: a token that names another one is not tried with this key. Default false. */
  readonly named?: boolean;
  /** `alg` that its owner bound it to; absent for any that fits the key. */
  readonly algorithm?: string;
  /** Issuers it speaks for; absent for each that is accepted. */
  readonly issuers?: readonly string[];
  /** Epoch ms from which its signatures do not count any more; asked on every use of a token. Absent: never. */
  readonly goodUntil?: () => number;
}

/** Keys that may change while the layer runs. */
export interface KeySource {
  /** Keys that count now, at most 64 of one source. */
  keys(): readonly VerificationKey[];
  /**
   * Looks for new keys, because a token names one that is not known; not more often than the source bears.
   * @returns whether it looked; never rejects
   */
  lookAgain(): Promise<boolean>;
  /** Why keys of an issuer cannot be had; undefined when they are as their owner publishes them. */
  problem(issuer: string | undefined): string | undefined;
}

/** Keys that never change. */
export function fixedKeys(keys: readonly VerificationKey[]): KeySource {
  return { keys: () => keys, lookAgain: async () => false, problem: () => undefined };
}

/** Several sources as one. */
export function combinedKeys(sources: readonly KeySource[]): KeySource {
  return {
    keys: () => sources.flatMap((source) => source.keys()),
    async lookAgain() {
      const looked = await Promise.all(sources.map((source) => source.lookAgain()));
      return looked.includes(true);
    },
    problem: (issuer) => {
      for (const source of sources) {
        const problem = source.problem(issuer);
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
  };
}
