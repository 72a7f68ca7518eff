import { isAscii, isUtf8 } from 'node:buffer';
import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import { exactJson, repeatedMemberIn, tooDeepAt } from '@sallyport/std/json/json-text';
import type { Fault } from '../../api/schemas/error.ts';
import { isObject } from '../domain/shape/is-object.ts';
import { findJsonFault } from './json-place.ts';

/** Most levels of arrays and objects in a request: far above what tools need, far below what recursion can handle. */
export const JSON_DEPTH_MAX = 128;

/** Ends a sentence about the arguments of a call that cannot be passed on as they are. */
export const TOO_LONG_NUMBER =
  'whole number with more digits than a number keeps. Send it as a text, if the tool takes one.';

/** Why received bytes are refused as JSON. */
export type JsonRefusal = 'encoding' | 'syntax' | 'depth' | 'key';

/** Parsed JSON, or its refusal. `inexact`: a place of {@link ExactPlace} holds a bigint. */
export type WireJson = { readonly ok: true; readonly value: unknown; readonly inexact?: true } | RefusedJson;

/** Why received bytes are not taken. `value`: what they say, where they are JSON with a member that is refused. */
export interface RefusedJson {
  readonly ok: false;
  readonly refusal: JsonRefusal;
  readonly failure: Failure;
  readonly value?: unknown;
}

/**
 * Names that lead to a value in which no digit may be lost, because it is an argument: a whole number that a double does
 * not hold is read as a bigint there, which no check of arguments accepts. Elsewhere it is rounded, as in the bounds of
 * a schema.
 */
export type ExactPlace = readonly string[];

/** The whole text is arguments, or one of them. */
export const EXACT_WHOLE: readonly ExactPlace[] = [[]];

/**
 * Reads JSON that came from outside: valid UTF-8, at most JSON_DEPTH_MAX levels, no member twice, and no key that could
 * reach the prototype of an object it is copied into. Failures: E3801 with the place in `details.faults`, E3810 when too
 * deep.
 */
export function readWireJson(bytes: Buffer, exact: readonly ExactPlace[] = []): WireJson {
  // Fast path: pure ASCII decodes without a second look.
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) return badEncoding(bytes);
  return readWireText(ascii ? bytes.toString('latin1') : bytes.toString('utf8'), exact);
}

/** As readWireJson, for text that is already decoded. */
export function readWireText(text: string, exact: readonly ExactPlace[] = []): WireJson {
  if (text.length > JSON_DEPTH_MAX) {
    const index = tooDeepAt(text, JSON_DEPTH_MAX);
    if (index >= 0) return tooDeep(index);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return badSyntax(text, thrown);
  }
  const pointer = isSuspicious(text) ? prototypeKeyIn(value, '') : undefined;
  if (pointer !== undefined) return { ...badKey(pointer), value };
  const repeated = repeatedMemberIn(text, value);
  if (repeated !== undefined) return { ...twice(repeated), value };
  return exact.length === 0 ? { ok: true, value } : exactAt(exact, text, value);
}

function exactAt(places: readonly ExactPlace[], text: string, value: unknown): WireJson {
  const read = exactJson(text);
  // Fast path: no number is that long.
  if (read === undefined) return { ok: true, value };
  const exact = places.reduce((whole, place) => withPart(whole, read.value, place), value);
  return { ok: true, value: exact, ...(holdsBigint(exact) ? { inexact: true } : {}) };
}

/** `whole` with the part at `place` taken from `source`, which has the same shape. */
function withPart(whole: unknown, source: unknown, [name, ...rest]: ExactPlace): unknown {
  if (name === undefined) return source;
  if (!isObject(whole) || !isObject(source) || !Object.hasOwn(whole, name)) return whole;
  return { ...whole, [name]: withPart(whole[name], source[name], rest) };
}

function holdsBigint(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  return Object.values(value).some(holdsBigint);
}

/** True when the text may contain a key that names a prototype, plain or with escapes. */
function isSuspicious(text: string): boolean {
  return text.includes('__proto__') || text.includes('"constructor"') || text.includes('\\u00');
}

/** Pointer to the first key that names a prototype; recursion is bounded by JSON_DEPTH_MAX. */
function prototypeKeyIn(value: unknown, pointer: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const place = pointerTo(pointer, key);
    if (key === '__proto__' || (key === 'constructor' && namesPrototype(member))) return place;
    const inner = prototypeKeyIn(member, place);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function namesPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

function badEncoding(bytes: Buffer): WireJson {
  const offset = firstBadByte(bytes);
  const message = `The request is not valid UTF-8: byte ${offset} cannot be there. Send the JSON encoded as UTF-8.`;
  return refused('encoding', 'E3801', message, { path: '', keyword: 'encoding', hint: 'Encode the body as UTF-8.' });
}

/** Index of the first invalid byte. Decoding replaces it by U+FFFD; a U+FFFD that the bytes really encode is valid. */
function firstBadByte(bytes: Buffer): number {
  let offset = 0;
  for (const part of bytes.toString('utf8').split('\ufffd')) {
    offset += Buffer.byteLength(part);
    if (bytes.readUintBE(offset, Math.min(3, bytes.length - offset)) !== 0xefbfbd) return offset;
    offset += 3;
  }
  return offset;
}

function badSyntax(text: string, cause: unknown): WireJson {
  const { index, line, column, what } = findJsonFault(text);
  const message = `The request is not JSON: at line ${line}, column ${column} (position ${index}), ${what}.`;
  return refused('syntax', 'E3801', message, { path: '', keyword: 'json', hint: 'Send one JSON document.' }, cause);
}

function tooDeep(index: number): WireJson {
  const message = `The request nests deeper than ${JSON_DEPTH_MAX} levels at position ${index}. Send flatter JSON.`;
  return refused('depth', 'E3810', message, { path: '', keyword: 'depth', hint: 'Send flatter JSON.' });
}

function badKey(pointer: string): RefusedJson {
  const message = `The request holds a key that is not allowed, at ${pointer}. Leave out the key.`;
  return refused('key', 'E3801', message, { path: pointer, keyword: 'propertyNames', hint: 'Leave out the key.' });
}

function twice(pointer: string): RefusedJson {
  const message = `The request has a member twice, at ${pointer}. Send it once.`;
  return refused('key', 'E3801', message, { path: pointer, keyword: 'propertyNames', hint: 'Send it once.' });
}

function refused(
  refusal: JsonRefusal,
  code: ErrorCode,
  message: string,
  fault: Pick<Fault, 'path' | 'keyword' | 'hint'>,
  cause?: unknown,
): RefusedJson {
  const faults: Fault[] = [{ ...fault, code, message }];
  return { ok: false, refusal, failure: failure(code, message, { details: { faults }, cause }) };
}
