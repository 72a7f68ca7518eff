import type { Anchor } from '../../../api/schemas/audit.ts';
import type { ChainHead } from '../chain.ts';
import { type CheckpointSigner, isAuthentic } from '../checkpoint.ts';
import type { LedgerStore } from '../ledger-store.port.ts';
import { checkpointOf } from './anchor.ts';

/** Why a signed head does not belong to this layer, or is no longer in its chain; undefined when it holds. */
export async function faultOfAnchor(
  store: LedgerStore,
  signer: CheckpointSigner,
  anchor: Anchor,
): Promise<string | undefined> {
  const { chain_id, time } = anchor;
  if (!(await isAuthentic(signer, checkpointOf(anchor)))) return `the anchor of ${time} is not signed by a known key`;
  return faultAtHead(store, chain_id, anchor, `was the head at ${time}`);
}

/**
 * Why a chain no longer has the event that was its head; undefined when it has.
 * @param said source of the head, for the text of the fault
 */
export async function faultAtHead(
  store: LedgerStore,
  chainId: string,
  { seq, hash }: ChainHead,
  said: string,
): Promise<string | undefined> {
  const [event] = await store.chainEvents(chainId, seq - 1, 1);
  if (event === undefined || event.chainseq !== seq) return `event ${seq}, which ${said}, is gone`;
  if (event.chainhash !== hash) return `event ${seq}, which ${said}, has another hash now: the chain was written anew`;
  return undefined;
}
