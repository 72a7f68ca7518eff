import { hash } from 'node:crypto';

/** SHA-256 of a text (as UTF-8) or of bytes, in lower-case hex. */
export function sha256(input: string | Uint8Array): string {
  return hash('sha256', input, 'hex');
}
