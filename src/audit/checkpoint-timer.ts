import type { Clock } from '../std/clock.ts';
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
  /** Keeps each signed head outside; one that fails is tried again at the next turn. Nowhere when absent. */
  readonly anchor?: (checkpoint: ChainCheckpoint) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A failed signature is logged and tried again at the next turn. */
export function startCheckpointTimer(options: CheckpointTimerOptions): CheckpointTimer {
  const { ledger, store, signer, chainId, everyMs, anchor, clock, log } = options;
  let signed = ledger.head().seq;
  /** The newest signed head, until it is kept outside: it proves all before it. */
  let unanchored: ChainCheckpoint | undefined;
  let signing: Promise<void> | undefined;

  const sign = async (): Promise<void> => {
    const { seq } = ledger.head();
    if (seq === signed) return;
    try {
      // A store that has crashed may have lost the newest links: what it holds by now is signed, and nothing else.
      const head = await store.chainHead(chainId);
      if (head === undefined || head.seq === signed) return;
      const checkpoint = await signCheckpoint(signer, chainId, head, clock.now());
      await store.addCheckpoint(checkpoint);
      signed = head.seq;
      unanchored = checkpoint;
    } catch (cause) {
      log.error('checkpoint-failed', { seq, reason: String(cause) });
    }
  };

  const keepOutside = async (): Promise<void> => {
    const kept = unanchored;
    if (kept === undefined || anchor === undefined) return;
    try {
      await anchor(kept);
      unanchored = undefined;
    } catch (cause) {
      log.error('anchor-failed', { seq: kept.seq, reason: String(cause) });
    }
  };
  const turn = async (): Promise<void> => {
    await sign();
    await keepOutside();
  };

  const timer = setInterval(() => {
    signing ??= turn().finally(() => {
      signing = undefined;
    });
  }, everyMs);
  timer.unref();

  return {
    async close() {
      clearInterval(timer);
      await signing;
      await turn();
    },
  };
}
