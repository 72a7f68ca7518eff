import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MiB } from '@sallyport/std/bytes';

/** Bytes hashed between two turns of the event loop. */
const HASHED_BYTES = MiB;

/** SHA-256 in hex, without holding the event loop for long. */
export async function hashInTurns(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < bytes.length; from += HASHED_BYTES) {
    if (from > 0) await nextTurn();
    hash.update(bytes.subarray(from, from + HASHED_BYTES));
  }
  return hash.digest('hex');
}
