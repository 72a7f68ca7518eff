import { join } from 'node:path';
import { anchorFile } from '../../audit/anchoring/anchor-file.ts';
import { startCheckpointTimer } from '../../audit/checkpoint-timer.ts';
import { type Ledger, openLedger } from '../../audit/ledger.ts';
import { startRelay } from '../../audit/relay.ts';
import { openJsonlEventSink } from '../../audit/sinks/jsonl/jsonl-event-sink.ts';
import type { OperationParts } from '../../operations/parts.ts';
import type { Ingredients } from './ingredients.ts';
import type { Storage } from './open-storage.ts';

/** The ledger, the checkpoints of its chain, and the sinks that read from it; closed in the opposite order. */
export async function openAudit(
  opened: AsyncDisposableStack,
  { settings, clock, log, redactor }: Ingredients,
  { database }: Storage,
  signer: OperationParts['signer'],
  chainId: string,
): Promise<Ledger> {
  const store = database.ledgerStore;
  const sinks = settings['audit.jsonl'] ? [await openJsonlEventSink(join(settings['data_folder'], 'audit.jsonl'))] : [];
  const relay = startRelay({ store, chainId, sinks, log });
  opened.defer(() => relay.close());
  const ledger = await openLedger({ store, chainId, log, redactor, onCommitted: relay.offer });
  const everyMs = settings['audit.checkpoint_seconds'] * 1000;
  const path = settings['audit.anchor_file'];
  const anchor = path === '' ? {} : { anchor: anchorFile(path) };
  const checkpoints = startCheckpointTimer({ ledger, store, signer, chainId, everyMs, clock, log, ...anchor });
  opened.defer(() => checkpoints.close());
  opened.defer(() => ledger.close());
  return ledger;
}
