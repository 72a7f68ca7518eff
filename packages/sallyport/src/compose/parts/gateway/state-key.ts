import { hkdfSync } from 'node:crypto';
import type { SigningKeys } from '../../../identity/keys/signing-keys.ts';

const BYTES = 32;
/** Context of the key derivation: another purpose derives another key. */
const PURPOSE = 'sallyport: state that MCP clients carry';

/**
 * The key that signs the state that MCP clients carry from a question to its answer. It is derived from the layer's own
 * key (RFC 5869), so a question that was asked before a restart, or by another instance with the same keys, can still
 * be answered; it changes with that key.
 */
export function stateKeyOf(keys: Pick<SigningKeys, 'privateKey'>): Uint8Array {
  return derivedKey(keys, PURPOSE);
}

/** A secret key for one purpose, derived from the layer's own key (RFC 5869). */
export function derivedKey({ privateKey }: Pick<SigningKeys, 'privateKey'>, purpose: string): Uint8Array {
  const secret = privateKey.export({ type: 'pkcs8', format: 'der' });
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, BYTES));
}
