import type { Anchor, AnchorVerification } from '../../api/schemas/audit.ts';
import { anchorOf } from './anchoring/anchor.ts';
import { faultOfAnchor } from './anchoring/fault-of-anchor.ts';
import { type CheckpointSigner, signCheckpoint } from './checkpoint.ts';
import type { LedgerStore } from './ledger-store.port.ts';

/**
 * Signs the present head of every chain, to be kept where the layer's operators cannot change it (AUD-07). Each
 * signature counts as a checkpoint too.
 * @param now epoch ms
 */
export async function signHeads(store: LedgerStore, signer: CheckpointSigner, now: number): Promise<Anchor[]> {
  const anchors: Anchor[] = [];
  for (const chainId of await store.chainIds()) {
    const head = await store.chainHead(chainId);
    if (head === undefined) continue;
    const checkpoint = await signCheckpoint(signer, chainId, head, now);
    await store.addCheckpoint(checkpoint);
    anchors.push(anchorOf(checkpoint));
  }
  return anchors;
}

/**
 * Compares heads that were kept outside with the chains (AUD-07): an attacker who can change tables and sign heads can
 * rewrite a chain, but not the heads that others keep. `verifyLedger` checks that the chain up to a head is whole.
 */
export async function verifyAnchors(
  store: LedgerStore,
  signer: CheckpointSigner,
  anchors: readonly Anchor[],
): Promise<AnchorVerification> {
  const faults: AnchorVerification['faults'] = [];
  for (const anchor of anchors) {
    const reason = await faultOfAnchor(store, signer, anchor);
    if (reason !== undefined) faults.push({ chain_id: anchor.chain_id, seq: anchor.seq, reason });
  }
  return { whole: faults.length === 0, checked: anchors.length, faults };
}
