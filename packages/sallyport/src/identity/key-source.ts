import type { KeyObject } from 'node:crypto';

/** A public key that may have signed a token. */
export interface VerificationKey {
  /** The owner's name of the key in a JWKS, else its RFC 7638 thumbprint (SHA-256). */
  readonly kid: string;
  readonly key: KeyObject;
  /** True when the owner gave the `kid`: a token that names another one is not tried with this key. Default false. */
  readonly named?: boolean;
  /** `alg` that the owner bound the key to; absent: any that fits the key. */
  readonly algorithm?: string;
  /** Issuers that the key speaks for; absent: every accepted one. */
  readonly issuers?: readonly string[];
  /** Epoch ms from which its signatures are invalid; called on every use of a token. Absent: never. */
  readonly goodUntil?: () => number;
}

/** Keys that may change while the layer runs. */
export interface KeySource {
  /** Keys that are valid now, at most 64 of one source. */
  keys(): readonly VerificationKey[];
  /**
   * Looks for new keys after a token named an unknown one; rate-limited by the source.
   * @returns whether it looked; never rejects
   */
  lookAgain(): Promise<boolean>;
  /** Why keys of an issuer are unavailable; undefined when they are as their owner publishes them. */
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
