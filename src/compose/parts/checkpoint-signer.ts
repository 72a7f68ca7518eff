import { sign, verify } from 'node:crypto';
import type { CheckpointSigner } from '../../audit/checkpoint.ts';
import type { SigningKeys } from '../../identity/signing-keys.ts';

/** Signs the heads of hash chains with the layer's own key, RSASSA-PKCS1-v1_5 with SHA-256. */
export function checkpointSigner({ kid, privateKey, publicKey }: SigningKeys): CheckpointSigner {
  return {
    async sign(text) {
      return { keyId: kid, signature: sign('sha256', Buffer.from(text), privateKey).toString('base64url') };
    },
    async verify(text, keyId, signature) {
      return keyId === kid && verify('sha256', Buffer.from(text), publicKey, Buffer.from(signature, 'base64url'));
    },
  };
}
