/** Smallest allocation, in bytes. */
const ROOM_MIN = 4096;

/**
 * Collects bytes that arrive in pieces, copied together on arrival: a piece of one byte costs one byte. A list of the
 * pieces would keep an object of some hundred bytes for each.
 */
export class GrowingBuffer {
  #room = Buffer.alloc(0);
  #length = 0;

  /** Number of bytes held. */
  get length(): number {
    return this.#length;
  }

  /** Adds a copy of a piece; the capacity doubles when it is full. */
  add(piece: Uint8Array): void {
    const needed = this.#length + piece.length;
    if (needed > this.#room.length) {
      const wider = Buffer.allocUnsafeSlow(Math.max(needed, this.#room.length * 2, ROOM_MIN));
      wider.set(this.#room.subarray(0, this.#length));
      this.#room = wider;
    }
    this.#room.set(piece, this.#length);
    this.#length = needed;
  }

  /** The collected bytes, not copied; call it when everything has arrived. */
  bytes(): Buffer {
    return this.#room.subarray(0, this.#length);
  }
}
