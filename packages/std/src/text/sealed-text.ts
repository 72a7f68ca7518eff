import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Prefix of a sealed text; the number is the version of the format. */
const MARK = 'sealed:1:';
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Length of the sealing key, in bytes. */
export const SEALING_KEY_BYTES = 32;

/**
 * Encrypts a text (AES-256-GCM, a fresh nonce each time).
 * @param place position of the text; it can be opened only there, so that nobody can move it
 */
export function sealText(key: Uint8Array, text: string, place: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(place));
  const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return MARK + Buffer.concat([nonce, cipher.getAuthTag(), bytes]).toString('base64');
}

/** Undefined when it was sealed with another key, or for another place. */
export function openText(key: Uint8Array, sealed: string, place: string): string | undefined {
  const bytes = Buffer.from(sealed.slice(MARK.length), 'base64');
  const [tagAt, textAt] = [NONCE_BYTES, NONCE_BYTES + TAG_BYTES];
  if (bytes.length < textAt) return undefined;
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, tagAt), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(tagAt, textAt));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(textAt)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** True for sealed texts. */
export const isSealed = (text: string): boolean => text.startsWith(MARK);
