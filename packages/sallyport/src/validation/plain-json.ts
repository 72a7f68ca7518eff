import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../api/schemas/error.ts';

/** Most levels that are read; deeper and cyclic values are faults. */
const DEPTH_MAX = 256;
/** Faults after which the walk ends. */
const FAULTS_MAX = 20;

/**
 * A value as its JSON text would read back: dates and values with toJSON are converted, undefined members dropped.
 * Values that JSON would lose or refuse are faults instead: numbers that are not finite, big integers, maps, sets,
 * functions, symbols, errors, and objects of classes of which JSON keeps nothing, such as promises and streams.
 * @returns the same value when it is plain already (the common case) or undefined; faults with E3501 and their place
 */
export function plainJson(value: unknown): { readonly value: unknown; readonly faults: readonly Fault[] } {
  if (value === undefined || isPlain(value, 1)) return { value, faults: NONE };
  const faults: Fault[] = [];
  const plain = convert(value, '', 1, faults);
  return { value: plain, faults };
}

const NONE: readonly Fault[] = [];

function isPlain(value: unknown, depth: number): boolean {
  if (depth > DEPTH_MAX) return false;
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in value) return false;
  for (const name in value) if (!isPlain((value as Record<string, unknown>)[name], depth + 1)) return false;
  return true;
}

function convert(given: unknown, path: string, depth: number, faults: Fault[]): unknown {
  const value = written(given);
  const what = depth > DEPTH_MAX ? `more than ${DEPTH_MAX} levels, or itself` : lost(value);
  if (what !== undefined) {
    if (faults.length < FAULTS_MAX) faults.push(fault(path, what));
    return null;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (faults.length >= FAULTS_MAX) return null;
  if (Array.isArray(value))
    return Array.from(value, (item, index) => convert(item, pointerTo(path, index), depth + 1, faults) ?? null);
  const members = Object.entries(value).map(([name, member]) => [
    name,
    convert(member, pointerTo(path, name), depth + 1, faults),
  ]);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

/** Stands for a value that fails when it is asked for its JSON form. */
const UNWRITABLE = Symbol('unwritable');

/** The JSON form of a value; of a date its instant. */
function written(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('toJSON' in value)) return value;
  try {
    return typeof value.toJSON === 'function' ? value.toJSON() : value;
  } catch {
    return UNWRITABLE;
  }
}

/** What JSON would lose of a value; undefined when nothing. */
function lost(value: unknown): string | undefined {
  if (value === UNWRITABLE) return 'a value whose toJSON fails';
  if (typeof value === 'number' && !Number.isFinite(value)) return `the number ${value}`;
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  if (value instanceof Map || value instanceof Set) return 'a Map or a Set';
  if (value instanceof Promise) return 'a promise that was not awaited';
  if (value instanceof Error) return 'an error';
  return isEmptyInstance(value) ? 'an object of a class, without members of its own' : undefined;
}

/** True for a stream, a response, a generator and their like: JSON makes `{}` of them. */
function isEmptyInstance(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== Object.prototype && prototype !== null && Object.keys(value).length === 0;
}

const fault = (path: string, what: string): Fault => ({
  path,
  code: 'E3501',
  keyword: 'json',
  message: `Holds ${what}, which JSON cannot hold.`,
  hint: 'Return plain JSON.',
});
