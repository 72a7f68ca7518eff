import { randomBytes } from 'node:crypto';

/** Kinds of WebSocket frames (RFC 6455 §5.2). */
export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** One frame, unmasked. */
export interface Frame {
  readonly opcode: number;
  /** Whether the message ends with it. */
  readonly isFinal: boolean;
  readonly payload: Buffer;
}

const FINAL = 0x80;
const RESERVED = 0x70;
const OPCODE = 0x0f;
const MASKED = 0x80;
const LENGTH = 0x7f;
const TWO_BYTES = 126;
const EIGHT_BYTES = 127;
const CONTROL = 0x08;
const CONTROL_BYTES_MAX = 125;
const MASK_BYTES = 4;

/**
 * Writes one final frame.
 * @param mask whether it is masked, as everything from a client must be (RFC 6455 §5.3)
 */
export function encodeFrame(opcode: number, payload: Uint8Array, mask: boolean): Buffer {
  const { length } = payload;
  const extra = length < TWO_BYTES ? 0 : length <= 0xffff ? 2 : 8;
  const frame = Buffer.allocUnsafe(2 + extra + (mask ? MASK_BYTES : 0) + length);
  frame[0] = FINAL | opcode;
  frame[1] = (mask ? MASKED : 0) | (extra === 0 ? length : extra === 2 ? TWO_BYTES : EIGHT_BYTES);
  if (extra === 2) frame.writeUInt16BE(length, 2);
  if (extra === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  const start = frame.length - length;
  frame.set(payload, start);
  if (mask) {
    const key = randomBytes(MASK_BYTES);
    frame.set(key, start - MASK_BYTES);
    applyMask(frame.subarray(start), key);
  }
  return frame;
}

/** Reads frames from a stream of bytes that is cut anywhere. */
export interface FrameReader {
  /** @throws Error when the bytes are no frames, or one is larger than the bound */
  read(bytes: Buffer): Frame[];
}

export function createFrameReader(frameBytesMax: number): FrameReader {
  let rest: Buffer = Buffer.alloc(0);
  return {
    read(bytes) {
      rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const frames: Frame[] = [];
      for (;;) {
        const taken = takeFrame(rest, frameBytesMax);
        if (taken === undefined) return frames;
        frames.push(taken.frame);
        rest = rest.subarray(taken.bytes);
      }
    },
  };
}

function takeFrame(bytes: Buffer, frameBytesMax: number): { frame: Frame; bytes: number } | undefined {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  const short = second & LENGTH;
  const extra = short === TWO_BYTES ? 2 : short === EIGHT_BYTES ? 8 : 0;
  const isMasked = (second & MASKED) !== 0;
  const start = 2 + extra + (isMasked ? MASK_BYTES : 0);
  if (bytes.length < start) return undefined;
  const length = extra === 0 ? short : extra === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  check(first, length, frameBytesMax);
  if (bytes.length < start + length) return undefined;
  const payload = Buffer.from(bytes.subarray(start, start + length));
  if (isMasked) applyMask(payload, bytes.subarray(start - MASK_BYTES, start));
  return { frame: { opcode: first & OPCODE, isFinal: (first & FINAL) !== 0, payload }, bytes: start + length };
}

/** Whether frames of this kind stand for themselves, between the frames of a message. */
export function isControl(opcode: number): boolean {
  return (opcode & CONTROL) !== 0;
}

function check(first: number, length: number, frameBytesMax: number): void {
  if ((first & RESERVED) !== 0) throw new Error('a frame uses an extension that was not agreed on');
  if (length > frameBytesMax) throw new Error(`a frame is larger than ${frameBytesMax} bytes`);
  if (isControl(first) && (length > CONTROL_BYTES_MAX || (first & FINAL) === 0))
    throw new Error('a control frame is malformed');
}

function applyMask(bytes: Buffer, key: Uint8Array): void {
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = (bytes[index] ?? 0) ^ (key[index % MASK_BYTES] ?? 0);
  }
}
