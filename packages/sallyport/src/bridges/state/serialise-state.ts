import { setImmediate as nextTurn } from 'node:timers/promises';
import { KiB, MiB } from '@sallyport/std/bytes';

/** Text made into bytes between two turns of the event loop, in characters. */
const PART_CHARACTERS = 64 * KiB;
/** Bytes joined between two turns. */
const JOINED_BYTES = MiB;
/** Values up to this size are written at once, in characters. */
const SMALL_CHARACTERS = 4 * KiB;
/** What a value that is no string is taken for, in characters. */
const VALUE_CHARACTERS = 8;
const DEPTH_MAX = 1000;

type Members = Readonly<Record<string, unknown>>;

interface Writer {
  readonly parts: Buffer[];
  text: string;
}

/**
 * The JSON text of a value as bytes, as `JSON.stringify` writes it now: its tool may change the value while the text is
 * written. Only the copy that is made at first holds the event loop for longer than a part of the text takes.
 * @throws TypeError for a value that JSON cannot hold: undefined, functions, BigInt, cycles and too deep nesting
 */
export async function serialiseState(value: unknown): Promise<Uint8Array> {
  const writer: Writer = { parts: [], text: '' };
  const plain = copyOf(value, '', 0);
  if (isLeftOut(plain)) throw new TypeError('A state must be a value that JSON can hold.');
  await write(writer, plain, 0);
  flush(writer);
  return joinInTurns(writer.parts);
}

/** The value as lists, objects of no class and what else JSON holds; nobody else holds it. */
function copyOf(given: unknown, name: string, depth: number): unknown {
  const value = plainOf(given, name);
  if (depth > DEPTH_MAX) throw new TypeError(`A state is nested at most ${DEPTH_MAX} levels deep, and has no cycle.`);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Array.from(value, (item, at) => copyOf(item, String(at), depth + 1));
  const copy: Record<string, unknown> = Object.create(null);
  for (const member of Object.keys(value)) copy[member] = copyOf((value as Members)[member], member, depth + 1);
  return copy;
}

async function joinInTurns(parts: readonly Buffer[]): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafe(parts.reduce((bytes, { length }) => bytes + length, 0));
  let [at, inTurn] = [0, 0];
  for (const part of parts) {
    if (inTurn > JOINED_BYTES) {
      await nextTurn();
      inTurn = 0;
    }
    whole.set(part, at);
    at += part.length;
    inTurn += part.length;
  }
  return whole;
}

/** Most values are small, and are written without a promise: the collection of a hundred thousand promises holds the loop. */
function write(writer: Writer, value: unknown, depth: number): Promise<void> | undefined {
  if (leftAfter(value, SMALL_CHARACTERS) < 0 && typeof value === 'object' && value !== null)
    return writeLarge(writer, value as Members, depth);
  writer.text += JSON.stringify(value);
  return writer.text.length < PART_CHARACTERS ? undefined : nextPart(writer);
}

/** In a turn of its own: the names of an object may be a hundred thousand, and were just listed to see that it is large. */
async function writeLarge(writer: Writer, value: Members, depth: number): Promise<void> {
  await nextTurn();
  await (Array.isArray(value) ? writeArray(writer, value, depth) : writeObject(writer, value, depth));
}

async function writeArray(writer: Writer, values: readonly unknown[], depth: number): Promise<void> {
  writer.text += '[';
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (at > 0) writer.text += ',';
    const writing = write(writer, isLeftOut(value) ? null : value, depth + 1);
    if (writing !== undefined) await writing;
  }
  writer.text += ']';
}

async function writeObject(writer: Writer, members: Members, depth: number): Promise<void> {
  let isFirst = true;
  writer.text += '{';
  for (const name of Object.keys(members)) {
    const value = members[name];
    if (isLeftOut(value)) continue;
    writer.text += `${isFirst ? '' : ','}${JSON.stringify(name)}:`;
    isFirst = false;
    const writing = write(writer, value, depth + 1);
    if (writing !== undefined) await writing;
  }
  writer.text += '}';
}

/** So many characters less about those of a value; below 0 for a larger one, and for what only its `toJSON` knows. */
function leftAfter(value: unknown, characters: number): number {
  if (typeof value === 'string') return characters - value.length;
  let left = characters - VALUE_CHARACTERS;
  if (typeof value !== 'object' || value === null) return left;
  if ('toJSON' in value && !(value instanceof Date)) return -1;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at += 1) left = leftAfter(value[at], left);
    return left;
  }
  for (const name of Object.keys(value)) {
    if (left < 0) break;
    left = leftAfter((value as Members)[name], left - name.length);
  }
  return left;
}

/** What `JSON.stringify` takes for a value: the answer of `toJSON`, and what a wrapped primitive holds. */
function plainOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return plainOf(value.toJSON(name), name);
  if ([Number, String, Boolean, BigInt].some((wrapper) => value instanceof wrapper)) return value.valueOf();
  return value;
}

const isLeftOut = (value: unknown): boolean =>
  value === undefined || typeof value === 'function' || typeof value === 'symbol';

async function nextPart(writer: Writer): Promise<void> {
  flush(writer);
  await nextTurn();
}

function flush(writer: Writer): void {
  writer.parts.push(Buffer.from(writer.text));
  writer.text = '';
}
