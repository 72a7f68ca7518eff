import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { KiB, MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { hashInTurns } from './hash-in-turns.ts';
import type { PackedState } from './packed-state.ts';

/** States up to this size are stored as they are, in bytes (003, task 5). */
const PLAIN_BYTES_MAX = 10 * KiB;
/** Larger states are cut into pieces, so that no step holds the event loop for long. */
const WHOLE_BYTES_MAX = MiB;
const PIECE_BYTES = 256 * KiB;
/** Bytes of the parent beside a piece that its dictionary has too: content that moved so far is still found. */
const MARGIN_BYTES = 256 * KiB;
/** Smallest and largest window and table that zstd accepts here, as powers of two. */
const LOG_MIN = 10;
const LOG_MAX = 27;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/**
 * Compresses a state. With its parent's state only what changed is stored, whatever the state is made of.
 * @throws ToolLayerError E3705, E3706
 */
export async function packState(state: Uint8Array, parent?: Uint8Array): Promise<PackedState> {
  const size = state.length;
  const sha256 = await hashInTurns(state);
  if (size <= PLAIN_BYTES_MAX) return { form: 'plain', bytes: state, size, sha256 };
  const form = parent === undefined ? 'zstd' : 'delta';
  try {
    const frames: Uint8Array[] = [];
    for (const [from, to] of piecesOf(size)) {
      const piece = state.subarray(from, to);
      frames.push(await compress(piece, { params: paramsFor(piece, parent), ...dictionaryOf(parent, from, to) }));
    }
    return { form, bytes: joined(frames), size, sha256 };
  } catch (cause) {
    if (form === 'delta')
      throw new ToolLayerError('E3705', 'The change of the state could not be computed.', { cause });
    throw new ToolLayerError('E3706', 'The state could not be compressed.', { cause });
  }
}

/**
 * The plain state.
 * @param parent state of the parent; needed for the form `delta`
 * @throws ToolLayerError E3703 when bytes, parent and hash do not fit together
 */
export async function unpackState(packed: PackedState, parent?: Uint8Array): Promise<Uint8Array> {
  const state = await plainOf(packed, parent).catch((cause: unknown) => {
    throw corrupt(cause);
  });
  if (state.length !== packed.size || (await hashInTurns(state)) !== packed.sha256) throw corrupt();
  return state;
}

async function plainOf({ form, bytes, size }: PackedState, parent: Uint8Array | undefined): Promise<Uint8Array> {
  if (form === 'plain') return bytes;
  const base = form === 'delta' ? parent : undefined;
  if (form === 'delta' && base === undefined) throw new Error('The parent is missing.');
  const pieces = piecesOf(size);
  const frames = split(bytes, pieces.length);
  const state = new Uint8Array(size);
  for (const [at, [from, to]] of pieces.entries()) {
    const plain = await decompress(frames[at] ?? new Uint8Array(), {
      maxOutputLength: to - from,
      params: { [constants.ZSTD_d_windowLogMax]: LOG_MAX },
      ...dictionaryOf(base, from, to),
    });
    if (plain.length !== to - from) throw new Error('A piece is too short.');
    state.set(plain, from);
  }
  return state;
}

/** Beginning and end of each piece. */
function piecesOf(size: number): (readonly [number, number])[] {
  if (size <= WHOLE_BYTES_MAX) return [[0, size]];
  const count = Math.ceil(size / PIECE_BYTES);
  return Array.from({ length: count }, (_, at) => [at * PIECE_BYTES, Math.min(size, (at + 1) * PIECE_BYTES)] as const);
}

function dictionaryOf(parent: Uint8Array | undefined, from: number, to: number): { dictionary?: Uint8Array } {
  if (parent === undefined) return {};
  if (from === 0 && to <= WHOLE_BYTES_MAX && parent.length <= WHOLE_BYTES_MAX) return { dictionary: parent };
  const dictionary = parent.subarray(Math.max(0, from - MARGIN_BYTES), Math.min(parent.length, to + MARGIN_BYTES));
  // zstd takes no empty dictionary: a state that grew has no parent beside its end.
  return dictionary.length === 0 ? {} : { dictionary };
}

/** The window reaches over piece and dictionary, and the table holds all of the dictionary; the defaults lose both. */
function paramsFor(piece: Uint8Array, parent: Uint8Array | undefined): Record<number, number> {
  if (parent === undefined) return {};
  const reach = piece.length + Math.min(parent.length, Math.max(WHOLE_BYTES_MAX, PIECE_BYTES + 2 * MARGIN_BYTES));
  return { [constants.ZSTD_c_windowLog]: logOf(reach), [constants.ZSTD_c_hashLog]: logOf(reach / 2) };
}

const logOf = (bytes: number): number => Math.min(LOG_MAX, Math.max(LOG_MIN, Math.ceil(Math.log2(bytes))));

/** One frame stands for itself; several have their lengths before them, as 32-bit numbers. */
function joined(frames: readonly Uint8Array[]): Uint8Array {
  const [only] = frames;
  if (frames.length === 1 && only !== undefined) return only;
  const lengths = Buffer.alloc(4 * frames.length);
  for (const [at, frame] of frames.entries()) lengths.writeUInt32LE(frame.length, 4 * at);
  return Buffer.concat([lengths, ...frames]);
}

function split(bytes: Uint8Array, count: number): Uint8Array[] {
  if (count === 1) return [bytes];
  const lengths = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames: Uint8Array[] = [];
  let from = 4 * count;
  for (let at = 0; at < count; at += 1) {
    const to = from + lengths.getUint32(4 * at, true);
    if (to > bytes.length) throw new Error('A piece is missing.');
    frames.push(bytes.subarray(from, to));
    from = to;
  }
  return frames;
}

function corrupt(cause?: unknown): ToolLayerError {
  return new ToolLayerError('E3703', 'The checkpoint is damaged: its state does not fit its hash.', { cause });
}
