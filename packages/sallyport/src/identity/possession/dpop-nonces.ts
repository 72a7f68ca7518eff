import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@sallyport/std/clock';

/** Nonces for proofs (RFC 9449 §8 and §9). They are computed, not stored: a nonce is the number of its period, signed. */
export interface DpopNonces {
  /** The nonce of now. */
  current(): string;
  /** True for the nonce of this period or of one beside it; instances with the same key accept each other's. */
  accepts(nonce: string): boolean;
}

/** Length of a period, in ms. A nonce is accepted for one to two of them after it was given. */
const PERIOD_MS = 120_000;
/** Bytes of the signature; as hard to guess as a random nonce of the same length. */
const SIGNATURE_BYTES = 16;

/** @param key called for each new period, since the key may be replaced */
export function createDpopNonces(clock: Clock, key: () => Uint8Array): DpopNonces {
  let known: { readonly period: number; readonly key: Uint8Array; readonly nonce: string } | undefined;
  const periodOf = (): number => Math.floor(clock.now() / PERIOD_MS);
  return {
    current: () => {
      const [period, now] = [periodOf(), key()];
      if (known?.period !== period || known.key !== now) known = { period, key: now, nonce: nonceOf(period, now) };
      return known.nonce;
    },
    accepts: (nonce) => {
      const period = periodOf();
      return [period, period - 1, period + 1].some((each) => isEqual(nonce, nonceOf(each, key())));
    },
  };
}

function nonceOf(period: number, key: Uint8Array): string {
  return createHmac('sha256', key).update(String(period)).digest().subarray(0, SIGNATURE_BYTES).toString('base64url');
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
