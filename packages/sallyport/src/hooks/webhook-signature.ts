import { createHmac, timingSafeEqual } from 'node:crypto';

/** Headers of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks, spec 1.0). */
export const HEADER = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' } as const;

/** How far the clocks of both ends may be apart, and how old a message may be, in seconds. */
export const WINDOW_SECONDS = 300;
/** Signatures of one message that are looked at; several are there while a key changes. */
const SIGNATURES_MAX = 8;
const PREFIX = 'whsec_';

/** The key that a secret holds: base64 after `whsec_`, else the text itself. */
export function keyOf(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret);
}

/** `v1,` and the HMAC-SHA256 over id, time and body, in base64. */
export function signatureOf(key: Buffer, id: string, timestamp: number, body: string): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** What a message says of itself in its headers; a header that is missing is empty. */
export interface SignedMessage {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
}

/**
 * What is wrong with the signature of a message.
 * @param id the id that the message must have
 * @param nowSeconds epoch seconds
 * @returns undefined when it is signed with the key, for this id, within the window
 */
export function signatureFault(
  key: Buffer,
  message: SignedMessage,
  id: string,
  nowSeconds: number,
): string | undefined {
  if (message.signature === '') return 'it is not signed';
  if (message.id !== id) return 'it is signed for another message';
  const timestamp = Number(message.timestamp);
  if (!/^\d{1,12}$/.test(message.timestamp)) return 'it names no time';
  if (Math.abs(nowSeconds - timestamp) > WINDOW_SECONDS) return `its time is more than ${WINDOW_SECONDS} s away`;
  const expected = Buffer.from(signatureOf(key, id, timestamp, message.body));
  const given = message.signature.split(' ', SIGNATURES_MAX);
  return given.some((each) => isEqual(Buffer.from(each), expected)) ? undefined : 'its signature is not of this key';
}

const isEqual = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other);
