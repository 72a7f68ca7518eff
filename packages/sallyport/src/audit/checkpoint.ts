import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { ChainHead } from './chain.ts';
import type { ChainCheckpoint } from './ledger-store.port.ts';

/** Signs and checks chain heads. `compose` implements it with the layer's signing keys. */
export interface CheckpointSigner {
  /** RS256 over the text; base64url. */
  sign(text: string): Promise<{ readonly keyId: string; readonly signature: string }>;
  /** False for an unknown key as well as for a wrong signature. */
  verify(text: string, keyId: string, signature: string): Promise<boolean>;
}

/** A signed statement that the chain had this head at this time. */
export async function signCheckpoint(
  signer: CheckpointSigner,
  chainId: string,
  head: ChainHead,
  now: number,
): Promise<ChainCheckpoint> {
  const claim = { chainId, seq: head.seq, hash: head.hash, time: new Date(now).toISOString() };
  return { ...claim, ...(await signer.sign(canonicalJson(claim))) };
}

/** True when the signature is the signer's own. */
export function isAuthentic(signer: CheckpointSigner, checkpoint: ChainCheckpoint): Promise<boolean> {
  const { chainId, seq, hash, time, keyId, signature } = checkpoint;
  return signer.verify(canonicalJson({ chainId, seq, hash, time }), keyId, signature);
}
