import type { Clock } from '@sallyport/std/clock';
import type { Log } from '../telemetry/log.ts';
import { type CheckpointSigner, signCheckpoint } from './checkpoint.ts';
import type { Ledger } from './ledger.ts';
import type { ChainCheckpoint, LedgerStore } from './ledger-store.port.ts';

/** Signs the head of this instance's chain from time to time, while it moves (AUD-03). */
export interface CheckpointTimer {
  /** Signs the last head and stops. */
  close(): Promise<void>;
}

/** What the timer signs, and how often. */
export interface CheckpointTimerOptions {
  readonly ledger: Ledger;
  readonly store: LedgerStore;
  readonly signer: CheckpointSigner;
  readonly chainId: string;
  readonly everyMs: number;
  /** Keep each signed head outside the tables; what fails is tried again at the next turn. */
  readonly outside: readonly KeepOutside[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps a signed head where nobody comes who may only write to the tables. */
export type KeepOutside = (checkpoint: ChainCheckpoint) => Promise<void>;

/** A failed signature is logged and tried again at the next turn. */
export function startCheckpointTimer(options: CheckpointTimerOptions): CheckpointTimer {
  const { ledger, chainId, everyMs, log } = options;
  const outside = options.outside.map((keep) => ({ keep, pending: undefined as ChainCheckpoint | undefined }));
  /** Place of the newest head that is signed; undefined until the table was asked. */
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
      // It proves all before it.
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
  // What an earlier life of this instance left unsigned when it was killed.
  void turn();

  return {
    async close() {
      clearInterval(timer);
      await signing;
      await turn();
    },
  };
}

/** A store that has crashed may have lost the newest links: what it holds by now is signed, and nothing else. */
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
