import { type CallKey, textOfCall } from '../../domain/invocation/call-key.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { ClaimedKeys } from '../ledger-store.port.ts';

/** Calls whose keys are queried at once; bounds the memory of a verification. */
const ASKED_AT_ONCE = 10_000;
/** Allowed difference between the clocks of the layer and its database, ms. */
const CLOCKS_APART_MS = 60_000;

/** The store of keys, and how long keys are held. */
export interface KeysToVerify {
  readonly keys: ClaimedKeys;
  /** How long a key is held, ms. */
  readonly ttlMs: number;
  /** Epoch ms. */
  now(): number;
}

/** Verifies the keys under which calls ran (PIPE-09). */
export interface KeyVerification {
  read(records: readonly InvocationRecord[]): Promise<void>;
  /** Findings about missing keys, in words for an auditor; empty when none is missing. */
  finish(): Promise<readonly string[]>;
}

/**
 * Verifies that each completed call holds its key until that expires. A missing key is no proof that somebody deleted
 * it: it may have expired when keys were held for a shorter time.
 */
export function createKeyVerification({ keys, ttlMs, now }: KeysToVerify): KeyVerification {
  let asked: (CallKey & { readonly acceptedAt: number })[] = [];
  let missing = 0;
  let first: CallKey | undefined;
  const mustHold = ({ acceptedAt }: { readonly acceptedAt: number }): boolean =>
    acceptedAt > now() + CLOCKS_APART_MS - ttlMs;
  const ask = async (): Promise<void> => {
    // Judged anew: the row may have been read minutes ago.
    const holding = asked.filter(mustHold);
    const holders = new Set((await keys.holders(holding)).map(textOfCall));
    for (const call of holding) {
      if (holders.has(textOfCall(call))) continue;
      missing += 1;
      first ??= call;
    }
    asked = [];
  };
  return {
    async read(records) {
      for (const record of records) {
        const { state, idempotencyKey, acceptedAt, tenantId, invocationId } = record;
        if (state !== 'COMPLETED' || idempotencyKey === undefined || !mustHold(record)) continue;
        asked.push({ tenantId, invocationId, acceptedAt });
      }
      if (asked.length >= ASKED_AT_ONCE) await ask();
    },
    async finish() {
      await ask();
      if (first === undefined) return [];
      return [
        `Calls that ran under an idempotency key which they do not hold any more: ${missing}, the first is ` +
          `${first.invocationId} of ${first.tenantId}. The keys were deleted, or idempotency.ttl_seconds was raised since.`,
      ];
    },
  };
}
