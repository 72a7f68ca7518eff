import { join } from 'node:path';
import { anchorFile } from '../../audit/anchoring/anchor-file.ts';
import { headsFile } from '../../audit/anchoring/heads-file.ts';
import { createHeadsKeeper } from '../../audit/anchoring/kept-heads.ts';
import { startCheckpointTimer } from '../../audit/checkpoint-timer.ts';
import { type Ledger, openLedger } from '../../audit/ledger.ts';
import { removingRecorded } from '../../audit/recorded-change.ts';
import { notifySideEffects } from '../../audit/relay/side-effect-listener.ts';
import { startRelay } from '../../audit/relay.ts';
import { openJsonlEventSink } from '../../audit/sinks/jsonl/jsonl-event-sink.ts';
import type { OutsideKnowledge } from '../../audit/verify-ledger.ts';
import { valuesOf } from '../../domain/settings/setting.ts';
import type { OperationParts } from '../../operations/parts.ts';
import { CALL_SETTINGS } from '../../pipeline/parts.ts';
import { CHECKPOINT_SETTINGS } from '../settings/audit.ts';
import type { Ingredients } from './ingredients.ts';
import type { Storage } from './open-storage.ts';

/** File of the data folder with the newest signed heads. */
const HEADS_FILE = 'audit-heads.json';

/** The ledger of this instance, and the knowledge of its chain from outside the tables. */
interface OpenAudit {
  readonly ledger: Ledger;
  readonly outside: OutsideKnowledge;
}

/**
 * Opens the ledger, the checkpoints of its chain, and the sinks that read from it; they are closed in reverse order.
 */
export async function openAudit(
  opened: AsyncDisposableStack,
  { settings, clock, log, redactor, onSideEffect }: Ingredients,
  { database }: Storage,
  signer: OperationParts['signer'],
  chainId: string,
): Promise<OpenAudit> {
  const store = database.ledgerStore;
  const folder = settings['data_folder'];
  const sinks = settings['audit.jsonl'] ? [await openJsonlEventSink(join(folder, 'audit.jsonl'))] : [];
  const relay = startRelay({ store, chainId, sinks, log });
  opened.defer(() => relay.close());
  const notify = onSideEffect === undefined ? undefined : notifySideEffects(onSideEffect, log);
  const onCommitted: typeof relay.offer = (events) => {
    relay.offer(events);
    notify?.(events);
  };
  const chained = await openLedger({ store, chainId, log, redactor, onCommitted });
  const ledger = removingRecorded(chained, database.unrecordedEvents, log);
  const { everyMs } = valuesOf(CHECKPOINT_SETTINGS, settings);
  const place = headsFile(join(folder, HEADS_FILE));
  const heads = createHeadsKeeper({ place, store, signer, chainId, clock });
  await heads.begin().catch((cause: unknown) => log.error('anchor-failed', { reason: String(cause) }));
  const path = settings['audit.anchor_file'];
  const outside = path === '' ? [heads.keep] : [heads.keep, anchorFile(path)];
  const checkpoints = startCheckpointTimer({ ledger, store, signer, chainId, everyMs, clock, log, outside });
  opened.defer(() => checkpoints.close());
  opened.defer(() => ledger.close());
  const keys = { keys: database.claimedKeys, ttlMs: valuesOf(CALL_SETTINGS, settings).idempotencyTtlMs };
  return { ledger, outside: { chainId, place, head: () => ledger.head(), everyMs, keys, now: () => clock.now() } };
}
