import type { Clock } from '../std/clock.ts';
import type { Log } from '../telemetry/log.ts';
import { type CheckpointSigner, signCheckpoint } from './checkpoint.ts';
import type { Ledger } from './ledger.ts';
import type { LedgerStore } from './ledger-store.port.ts';

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
  readonly clock: Clock;
  readonly log: Log;
}

/** A failed signature is logged and tried again at the next turn. */
export function startCheckpointTimer(options: CheckpointTimerOptions): CheckpointTimer {
  const { ledger, store, signer, chainId, everyMs, clock, log } = options;
  let signed = ledger.head().seq;
  let signing: Promise<void> | undefined;

  const sign = async (): Promise<void> => {
    const { seq } = ledger.head();
    if (seq === signed) return;
    try {
      // A store that has crashed may have lost the newest links: what it holds by now is signed, and nothing else.
      const head = await store.chainHead(chainId);
      if (head === undefined || head.seq === signed) return;
      await store.addCheckpoint(await signCheckpoint(signer, chainId, head, clock.now()));
      signed = head.seq;
    } catch (cause) {
      log.error('checkpoint-failed', { seq, reason: String(cause) });
    }
  };

  const timer = setInterval(() => {
    signing ??= sign().finally(() => {
      signing = undefined;
    });
  }, everyMs);
  timer.unref();

  return {
    async close() {
      clearInterval(timer);
      await signing;
      await sign();
    },
  };
}
