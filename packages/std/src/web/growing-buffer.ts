/** Least room that is made, in bytes. */
const ROOM_MIN = 4096;

/**
 * Bytes that come in pieces, copied together as they come: a piece of one byte costs one byte. A list of the pieces would
 * keep an object of some hundred bytes for each.
 */
export class GrowingBuffer {
  #room = Buffer.alloc(0);
  #length = 0;

  /** Bytes held. */
  get length(): number {
    return this.#length;
  }

  /** Adds a copy of a piece; the room doubles when it is full. */
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

  /** What is held, not copied; to be asked for when all is there. */
  bytes(): Buffer {
    return this.#room.subarray(0, this.#length);
  }
}
