import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** What a sealed text begins with; the number is that of its form. */
const MARK = 'sealed:1:';
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Bytes of the key that texts are sealed with. */
export const SEALING_KEY_BYTES = 32;

/**
 * Encrypts a text (AES-256-GCM, a nonce of its own each time).
 * @param place where the text stands; it opens nowhere else, so that nobody moves it
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

/** Whether a text is one that was sealed. */
export const isSealed = (text: string): boolean => text.startsWith(MARK);
