import { setImmediate as nextTurn } from 'node:timers/promises';
import { KiB, MiB } from '@sallyport/std/bytes';

/** Values written between two turns of the event loop. */
const VALUES_PER_TURN = 4 * KiB;
/** Text joined to bytes at once, in characters. */
const PART_CHARACTERS = 64 * KiB;
/** Bytes joined between two turns. */
const JOINED_BYTES = MiB;
const DEPTH_MAX = 1000;

interface Writer {
  readonly parts: Buffer[];
  text: string;
  values: number;
}

/**
 * The JSON text of a value as bytes, as `JSON.stringify` writes it, without holding the event loop for longer than a few
 * thousand values take.
 * @throws TypeError for a value that JSON cannot hold: undefined, functions, BigInt, cycles and too deep nesting
 */
export async function serialiseState(value: unknown): Promise<Uint8Array> {
  const writer: Writer = { parts: [], text: '', values: 0 };
  const plain = plainOf(value, '');
  if (isLeftOut(plain)) throw new TypeError('A state must be a value that JSON can hold.');
  await write(writer, plain, 0);
  flush(writer);
  return joinInTurns(writer.parts);
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

async function write(writer: Writer, value: unknown, depth: number): Promise<void> {
  if (depth > DEPTH_MAX) throw new TypeError(`A state is nested at most ${DEPTH_MAX} levels deep, and has no cycle.`);
  writer.values += 1;
  if (writer.values % VALUES_PER_TURN === 0) await nextTurn();
  if (typeof value !== 'object' || value === null) append(writer, JSON.stringify(value));
  else if (Array.isArray(value)) await writeArray(writer, value, depth);
  else await writeObject(writer, value as Readonly<Record<string, unknown>>, depth);
}

async function writeArray(writer: Writer, values: readonly unknown[], depth: number): Promise<void> {
  append(writer, '[');
  for (let at = 0; at < values.length; at += 1) {
    if (at > 0) append(writer, ',');
    const value = plainOf(values[at], String(at));
    await writeMember(writer, isLeftOut(value) ? null : value, depth);
  }
  append(writer, ']');
}

async function writeObject(writer: Writer, members: Readonly<Record<string, unknown>>, depth: number): Promise<void> {
  let isFirst = true;
  append(writer, '{');
  for (const name of Object.keys(members)) {
    const value = plainOf(members[name], name);
    if (isLeftOut(value)) continue;
    append(writer, `${isFirst ? '' : ','}${JSON.stringify(name)}:`);
    isFirst = false;
    await writeMember(writer, value, depth);
  }
  append(writer, '}');
}

/** Fast path: most members are no objects, and are written without a promise. */
function writeMember(writer: Writer, value: unknown, depth: number): Promise<void> | undefined {
  const isDue = (writer.values + 1) % VALUES_PER_TURN === 0;
  if (isDue || (typeof value === 'object' && value !== null)) return write(writer, value, depth + 1);
  writer.values += 1;
  append(writer, JSON.stringify(value));
  return undefined;
}

/** What `JSON.stringify` takes for a value: the answer of `toJSON`, and what a wrapped primitive holds. */
function plainOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return plainOf(value.toJSON(name), name);
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  return value;
}

const isLeftOut = (value: unknown): boolean =>
  value === undefined || typeof value === 'function' || typeof value === 'symbol';

function append(writer: Writer, text: string): void {
  writer.text += text;
  if (writer.text.length >= PART_CHARACTERS) flush(writer);
}

function flush(writer: Writer): void {
  writer.parts.push(Buffer.from(writer.text));
  writer.text = '';
}
