import { MiB } from '@sallyport/std/bytes';
import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../api/schemas/error.ts';
import { hasControl } from './control-characters.ts';

/** Limits of a payload. */
export interface PayloadBounds {
  /** Levels of nesting, a scalar being 1; default 64, at most 512. */
  readonly depthMax: number;
  /** UTF-8 bytes of one text or property name; default 8 MiB. */
  readonly stringBytesMax: number;
  /** Members and elements of all objects and lists together; default 200 000. */
  readonly membersMax: number;
}

/** Default limits. */
export const PAYLOAD_BOUNDS: PayloadBounds = { depthMax: 64, stringBytesMax: 8 * MiB, membersMax: 200_000 };

/** The walk is recursive, and at most this deep; far below a stack overflow. */
const DEPTH_LIMIT = 512;
/** Faults after which the walk ends. */
const FAULTS_MAX = 20;
/** A UTF-16 unit takes at most so many bytes in UTF-8. */
const BYTES_PER_UNIT = 3;
/** Characters of a name that a fault's path shows. */
const SEGMENT_LENGTH_MAX = 64;

interface Walk {
  readonly bounds: PayloadBounds;
  readonly path: (string | number)[];
  readonly faults: Fault[];
  members: number;
  ended: boolean;
}

/**
 * Checks in one pass that a value is plain JSON within limits (VAL-06), before any schema is used. `undefined` members
 * count as absent. Paths of deep faults are as long as the depth limit permits, names in them are shortened.
 * @returns E3810 for a value too deep or too large (which ends the walk); E3801 for content that no JSON text should
 *   hold: numbers that are not finite, lone surrogates, U+0000, control characters in names, objects that are not
 *   plain, and the keys used for prototype pollution: `__proto__`, and `constructor` or `prototype` when they hold an
 *   object
 */
export function checkPayload(value: unknown, bounds: Partial<PayloadBounds> = {}): readonly Fault[] {
  const all = { ...PAYLOAD_BOUNDS, ...bounds };
  const depthMax = Math.min(all.depthMax, DEPTH_LIMIT);
  const walk: Walk = { bounds: { ...all, depthMax }, path: [], faults: [], members: 0, ended: false };
  visit(walk, value, 1);
  return walk.faults;
}

function visit(walk: Walk, value: unknown, depth: number): void {
  if (depth > walk.bounds.depthMax)
    end(walk, 'depth', `The value is nested more than ${walk.bounds.depthMax} levels deep.`, 'Make it flatter.');
  else if (typeof value === 'string') checkText(walk, value, 'text');
  else if (Array.isArray(value)) visitItems(walk, value, depth);
  else if (typeof value === 'object' && value !== null) visitMembers(walk, value, depth);
  else if (typeof value === 'bigint' && !Number.isSafeInteger(Number(value)))
    refuse(
      walk,
      'json',
      'The whole number has more digits than a number keeps.',
      'Send it as a text, if the tool takes one; as a number it would become another one.',
    );
  else if (value !== null && typeof value !== 'boolean' && !Number.isFinite(value))
    refuse(
      walk,
      'json',
      'The value is not JSON.',
      'Use null, true, false, a finite number, a text, a list or an object.',
    );
}

function visitItems(walk: Walk, items: readonly unknown[], depth: number): void {
  if (!count(walk, items.length)) return;
  for (let index = 0; index < items.length && !walk.ended; index++) {
    walk.path.push(index);
    visit(walk, items[index], depth + 1);
    walk.path.pop();
  }
}

function visitMembers(walk: Walk, holder: object, depth: number): void {
  if (!isPlain(holder)) {
    refuse(walk, 'json', 'The value is not a plain JSON object.', 'Send plain JSON.');
    return;
  }
  const names = Object.keys(holder);
  if (!count(walk, names.length)) return;
  for (const name of names) {
    if (walk.ended) return;
    const member = (holder as Record<string, unknown>)[name];
    if (member === undefined) continue;
    walk.path.push(name);
    if (isPollution(name, member)) refuse(walk, 'key', `The property name "${name}" is not allowed.`, 'Rename it.');
    else {
      checkText(walk, name, 'property name');
      visit(walk, member, depth + 1);
    }
    walk.path.pop();
  }
}

function isPlain(holder: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(holder);
  return prototype === Object.prototype || prototype === null;
}

function isPollution(name: string, member: unknown): boolean {
  if (name === '__proto__') return true;
  return (name === 'constructor' || name === 'prototype') && typeof member === 'object' && member !== null;
}

function count(walk: Walk, members: number): boolean {
  walk.members += members;
  const { membersMax } = walk.bounds;
  if (walk.members > membersMax)
    end(walk, 'members', `The value has more than ${membersMax} members and elements.`, 'Send less at once.');
  return !walk.ended;
}

function checkText(walk: Walk, text: string, what: string): void {
  const { stringBytesMax } = walk.bounds;
  if (text.length * BYTES_PER_UNIT > stringBytesMax && Buffer.byteLength(text) > stringBytesMax)
    end(walk, 'length', `The ${what} is longer than ${stringBytesMax} bytes.`, 'Shorten it.');
  else if (!text.isWellFormed())
    refuse(walk, 'unicode', `The ${what} holds half of a surrogate pair.`, 'Send well-formed Unicode.');
  else if (text.includes('\0')) refuse(walk, 'unicode', `The ${what} holds U+0000.`, 'Leave that character out.');
  else if (what === 'property name' && hasControl(text))
    refuse(walk, 'unicode', `The ${what} holds a control character or a byte order mark.`, 'Leave it out.');
}

function refuse(walk: Walk, keyword: string, message: string, hint: string, code: ErrorCode = 'E3801'): void {
  let path = '';
  for (const segment of walk.path)
    path = pointerTo(path, String(segment).slice(0, SEGMENT_LENGTH_MAX).toWellFormed().replaceAll('\0', '\ufffd'));
  walk.faults.push({ path, code, keyword, message, hint });
  walk.ended ||= walk.faults.length >= FAULTS_MAX;
}

function end(walk: Walk, keyword: string, message: string, hint: string): void {
  refuse(walk, keyword, message, hint, 'E3810');
  walk.ended = true;
}
