import { isAscii, isUtf8 } from 'node:buffer';
import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../api/schemas/error.ts';
import { findJsonFault } from './json-place.ts';

/** Most levels of arrays and objects in a request: far above what tools need, far below what recursion can handle. */
export const JSON_DEPTH_MAX = 128;

/** Why received bytes are refused as JSON. */
export type JsonRefusal = 'encoding' | 'syntax' | 'depth' | 'key';

/** Parsed JSON, or the reason for its refusal. */
export type WireJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly refusal: JsonRefusal; readonly failure: Failure };

/**
 * Reads JSON that came from outside: valid UTF-8, at most JSON_DEPTH_MAX levels, and no key that could reach the
 * prototype of an object it is copied into. Failures: E3801 with the place in `details.faults`, E3810 when too deep.
 */
export function readWireJson(bytes: Buffer): WireJson {
  // Fast path: pure ASCII decodes without a second look.
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) return badEncoding(bytes);
  return readWireText(ascii ? bytes.toString('latin1') : bytes.toString('utf8'));
}

/** As readWireJson, for text that is already decoded. */
export function readWireText(text: string): WireJson {
  if (text.length > JSON_DEPTH_MAX) {
    const index = tooDeepAt(text);
    if (index >= 0) return tooDeep(index);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return badSyntax(text, thrown);
  }
  const pointer = isSuspicious(text) ? prototypeKeyIn(value, '') : undefined;
  return pointer === undefined ? { ok: true, value } : badKey(pointer);
}

/** True when the text may contain a key that names a prototype, plain or with escapes. */
function isSuspicious(text: string): boolean {
  return text.includes('__proto__') || text.includes('"constructor"') || text.includes('\\u00');
}

/** Index of the bracket that opens the first level too many, or -1. Brackets inside strings do not count. */
function tooDeepAt(text: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x22) index = endOfString(text, index);
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return index;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return -1;
}

/** Index of the quote that closes the string opened at `start`; the text's length when unclosed. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote >= 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote < 0 ? text.length : quote;
}

function isEscaped(text: string, quote: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes += 1;
  return slashes % 2 === 1;
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

function badKey(pointer: string): WireJson {
  const message = `The request holds a key that is not allowed, at ${pointer}. Leave out the key.`;
  return refused('key', 'E3801', message, { path: pointer, keyword: 'propertyNames', hint: 'Leave out the key.' });
}

function refused(
  refusal: JsonRefusal,
  code: ErrorCode,
  message: string,
  fault: Pick<Fault, 'path' | 'keyword' | 'hint'>,
  cause?: unknown,
): WireJson {
  const faults: Fault[] = [{ ...fault, code, message }];
  return { ok: false, refusal, failure: failure(code, message, { details: { faults }, cause }) };
}
