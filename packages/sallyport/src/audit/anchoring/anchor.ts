import type { Anchor } from '../../../api/schemas/audit.ts';
import type { ChainCheckpoint } from '../ledger-store.port.ts';

/** A checkpoint as it leaves the layer. */
export function anchorOf({ chainId, keyId, seq, hash, time, signature }: ChainCheckpoint): Anchor {
  return { chain_id: chainId, seq, hash, time, key_id: keyId, signature };
}

/** The checkpoint in an anchor; not verified. */
export function checkpointOf({ chain_id, key_id, seq, hash, time, signature }: Anchor): ChainCheckpoint {
  return { chainId: chain_id, seq, hash, time, keyId: key_id, signature };
}
