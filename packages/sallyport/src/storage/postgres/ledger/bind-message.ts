// Hot path: one write for each group of calls.
import { KiB, MiB } from '@sallyport/std/bytes';

/** A parameter in text form; or JSON documents, sent as an array in binary form, so that nothing in them is escaped. */
export type Value = string | null | readonly string[];

/** Writes messages into a reused buffer: the result is valid until the next call. */
export type BindMessages = (statement: string, values: readonly Value[]) => Buffer;

/** Object identifier of the type json (`pg_type.dat` of PostgreSQL). */
const JSON_OID = 114;
const FIRST_ROOM_BYTES = 16 * KiB;
/** A buffer that grew beyond this for large documents is released. */
const KEPT_ROOM_BYTES_MAX = 1 * MiB;
/** Most bytes that UTF-8 needs for a unit of UTF-16. */
const UNIT_BYTES_MAX = 3;

interface Room {
  buffer: Buffer;
  end: number;
}

/**
 * The messages bind, execute and sync for a prepared statement without result rows (PostgreSQL manual, 53.7).
 * Allocating a new buffer for each costs more than writing it, and the client's own writer copies its contents whenever
 * its buffer grows.
 */
export function createBindMessages(): BindMessages {
  const room: Room = { buffer: Buffer.allocUnsafeSlow(FIRST_ROOM_BYTES), end: 0 };
  return (statement, values) => {
    if (room.buffer.length > KEPT_ROOM_BYTES_MAX) room.buffer = Buffer.allocUnsafeSlow(FIRST_ROOM_BYTES);
    room.end = 0;
    write(room, 'B\0\0\0\0\0');
    write(room, `${statement}\0`);
    writeInt16(room, values.length);
    for (const value of values) writeInt16(room, value === null || typeof value === 'string' ? 0 : 1);
    writeInt16(room, values.length);
    for (const value of values) {
      if (value === null) writeInt32(room, -1);
      else if (typeof value === 'string') writeSized(room, value);
      else writeDocuments(room, value);
    }
    writeInt16(room, 0);
    room.buffer.writeInt32BE(room.end - 1, 1);
    write(room, EXECUTE_AND_SYNC);
    return room.buffer.subarray(0, room.end);
  };
}

const EXECUTE_AND_SYNC = 'E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04';

/** In the binary form of arrays (`array_recv` of PostgreSQL). */
function writeDocuments(room: Room, documents: readonly string[]): void {
  const start = room.end;
  writeInt32(room, 0);
  writeInt32(room, documents.length === 0 ? 0 : 1);
  writeInt32(room, 0);
  writeInt32(room, JSON_OID);
  if (documents.length > 0) {
    writeInt32(room, documents.length);
    writeInt32(room, 1);
    for (const document of documents) writeSized(room, document);
  }
  room.buffer.writeInt32BE(room.end - start - 4, start);
}

/** A text after its length. */
function writeSized(room: Room, text: string): void {
  const start = room.end;
  writeInt32(room, 0);
  write(room, text);
  room.buffer.writeInt32BE(room.end - start - 4, start);
}

function write(room: Room, text: string): void {
  // Measured only when it could be too long.
  if (room.buffer.length - room.end < text.length * UNIT_BYTES_MAX) makeRoom(room, Buffer.byteLength(text));
  room.end += room.buffer.write(text, room.end);
}

function writeInt32(room: Room, value: number): void {
  makeRoom(room, 4);
  room.end = room.buffer.writeInt32BE(value, room.end);
}

function writeInt16(room: Room, value: number): void {
  makeRoom(room, 2);
  room.end = room.buffer.writeUInt16BE(value, room.end);
}

function makeRoom(room: Room, bytes: number): void {
  if (room.buffer.length - room.end >= bytes) return;
  const larger = Buffer.allocUnsafeSlow(2 * (room.end + bytes));
  room.buffer.copy(larger, 0, 0, room.end);
  room.buffer = larger;
}
