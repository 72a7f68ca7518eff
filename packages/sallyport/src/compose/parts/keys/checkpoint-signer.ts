import { sign, verify } from 'node:crypto';
import type { CheckpointSigner } from '../../../audit/checkpoint.ts';
import type { KeyRing } from '../../../identity/key-ring.ts';

/**
 * Signs the heads of hash chains with the layer's own key, RSASSA-PKCS1-v1_5 with SHA-256. Signatures of replaced keys
 * are verified with the old public key, which is kept for good.
 */
export function checkpointSigner(ring: Pick<KeyRing, 'current' | 'publicKey' | 'lookAgain'>): CheckpointSigner {
  return {
    async sign(text) {
      const { kid, privateKey } = ring.current();
      return { keyId: kid, signature: sign('sha256', Buffer.from(text), privateKey).toString('base64url') };
    },
    async verify(text, keyId, signature) {
      // Another instance may have put the pair in force since this one looked.
      const key = ring.publicKey(keyId) ?? ((await ring.lookAgain()) ? ring.publicKey(keyId) : undefined);
      return key !== undefined && verify('sha256', Buffer.from(text), key, Buffer.from(signature, 'base64url'));
    },
  };
}
