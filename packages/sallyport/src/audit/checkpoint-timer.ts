import type { Clock } from '@sallyport/std/clock';
import type { Log } from '../telemetry/log.ts';
import { type CheckpointSigner, signCheckpoint } from './checkpoint.ts';
import type { Ledger } from './ledger.ts';
import type { ChainCheckpoint, LedgerStore } from './ledger-store.port.ts';

/** Periodically signs the head of this instance's chain, while it moves (AUD-03). */
export interface CheckpointTimer {
  /** Signs the last head and stops. */
  close(): Promise<void>;
}

/** Dependencies and interval of the timer. */
export interface CheckpointTimerOptions {
  readonly ledger: Ledger;
  readonly store: LedgerStore;
  readonly signer: CheckpointSigner;
  readonly chainId: string;
  readonly everyMs: number;
  /** Functions that keep each signed head outside the tables; a failed one is retried at the next turn. */
  readonly outside: readonly KeepOutside[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps a signed head outside the reach of anybody who can only write to the tables. */
export type KeepOutside = (checkpoint: ChainCheckpoint) => Promise<void>;

/** A failed signature is logged and retried at the next turn. */
export function startCheckpointTimer(options: CheckpointTimerOptions): CheckpointTimer {
  const { ledger, chainId, everyMs, log } = options;
  const outside = options.outside.map((keep) => ({ keep, pending: undefined as ChainCheckpoint | undefined }));
  /** Position of the newest signed head; undefined until it was read. */
  let signed: number | undefined;
  let signing: Promise<void> | undefined;

  const sign = async (): Promise<void> => {
    const { seq } = ledger.head();
    if (seq === signed) return;
    try {
      signed ??= (await options.store.newestCheckpoint(chainId))?.seq ?? 0;
      const checkpoint = await signNewest(options, signed);
      if (checkpoint === undefined) return;
      signed = checkpoint.seq;
      // The newest head proves all events before it.
      for (const each of outside) each.pending = checkpoint;
    } catch (cause) {
      log.error('checkpoint-failed', { seq, reason: String(cause) });
    }
  };

  const keepOutside = async (): Promise<void> => {
    for (const each of outside) {
      const { pending } = each;
      if (pending === undefined) continue;
      try {
        await each.keep(pending);
        each.pending = undefined;
      } catch (cause) {
        log.error('anchor-failed', { seq: pending.seq, reason: String(cause) });
      }
    }
  };
  const turn = (): Promise<void> => {
    signing ??= sign()
      .then(keepOutside)
      .finally(() => {
        signing = undefined;
      });
    return signing;
  };

  const timer = setInterval(() => void turn(), everyMs);
  timer.unref();
  // Signs what an earlier life of this instance left unsigned when it was killed.
  void turn();

  return {
    async close() {
      clearInterval(timer);
      await signing;
      await turn();
    },
  };
}

/** Signs the newest stored head: after a crash the store may have lost the newest links, which must not be signed. */
async function signNewest(
  { store, signer, chainId, clock }: CheckpointTimerOptions,
  signed: number,
): Promise<ChainCheckpoint | undefined> {
  const head = await store.chainHead(chainId);
  if (head === undefined || head.seq === signed) return undefined;
  const checkpoint = await signCheckpoint(signer, chainId, head, clock.now());
  await store.addCheckpoint(checkpoint);
  return checkpoint;
}
