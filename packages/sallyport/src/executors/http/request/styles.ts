import { isObject } from '../../../domain/shape/is-object.ts';
import type { ParameterStyle } from '../../../registry/http-operation.ts';

/** Escapes one value so that it cannot leave its place in the request. */
export type Escape = (text: string) => string;

/** Escapes everything but the unreserved characters of RFC 3986 §2.3. */
export const escapeAll: Escape = (text) =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Keeps the reserved characters that cannot end a query value: not `#`, `&`, `+`, `=`, `[`, `]`. */
export const escapeReserved: Escape = (text) =>
  escapeAll(text).replaceAll(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/g, decodeURIComponent);

/** Leaves everything as it is. */
export const escapeNothing: Escape = (text) => text;

/** A scalar as text; null and undefined are empty, values nested deeper than the style allows are JSON. */
export function scalar(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Members that carry a value. */
const entriesOf = (value: Record<string, unknown>): [string, unknown][] =>
  Object.entries(value).filter(([, member]) => member !== undefined);

/** A value in `simple`, `label` or `matrix` style (RFC 6570 §3.2.2, 3.2.5, 3.2.7): for paths and headers. */
export function inPlace(name: string, value: unknown, style: ParameterStyle, explode: boolean, encode: Escape): string {
  if (style === 'matrix') return matrix(name, value, explode, encode);
  const parts = partsOf(value, explode, encode);
  return style === 'label' ? `.${parts.join(explode ? '.' : ',')}` : parts.join(',');
}

function partsOf(value: unknown, explode: boolean, encode: Escape): string[] {
  if (Array.isArray(value)) return value.map((one) => encode(scalar(one)));
  if (!isObject(value)) return [encode(scalar(value))];
  const pairs = entriesOf(value).map(([key, member]) => [encode(key), encode(scalar(member))] as const);
  return explode ? pairs.map((pair) => pair.join('=')) : pairs.flat();
}

function matrix(name: string, value: unknown, explode: boolean, encode: Escape): string {
  const key = encode(name);
  // RFC 6570 §3.2.7: a name without a value stands alone.
  const named = (text: string): string => (text === '' ? `;${key}` : `;${key}=${text}`);
  if (explode && Array.isArray(value)) return value.map((one) => named(encode(scalar(one)))).join('');
  const parts = partsOf(value, explode, encode);
  return explode && isObject(value)
    ? parts.map((pair) => `;${pair.replace(/=$/, '')}`).join('')
    : named(parts.join(','));
}

const DELIMITERS: Partial<Record<ParameterStyle, string>> = { spaceDelimited: '%20', pipeDelimited: '%7C' };

/** A value as pairs of a query, a form or cookies, with escaped names and values. An empty list gives no pair. */
export function asPairs(
  name: string,
  value: unknown,
  style: ParameterStyle,
  explode: boolean,
  encode: Escape,
): [string, string][] {
  const key = escapeAll(name);
  if (Array.isArray(value)) {
    if (value.length === 0) return [];
    const parts = value.map((one) => encode(scalar(one)));
    return explode ? parts.map((part) => [key, part]) : [[key, parts.join(DELIMITERS[style] ?? ',')]];
  }
  if (!isObject(value)) return [[key, encode(scalar(value))]];
  if (style === 'deepObject') return deepPairs(key, value, encode);
  const pairs = entriesOf(value).map(([member, one]): [string, string] => [escapeAll(member), encode(scalar(one))]);
  if (explode) return pairs;
  return pairs.length === 0 ? [] : [[key, pairs.flat().join(DELIMITERS[style] ?? ',')]];
}

/** Most levels of `a[b][c]`; deeper values are written as JSON. */
const DEEP_LEVELS_MAX = 8;

function deepPairs(key: string, value: Record<string, unknown>, encode: Escape, level = 1): [string, string][] {
  return entriesOf(value).flatMap(([member, one]): [string, string][] => {
    const inner = `${key}[${escapeAll(member)}]`;
    if (isObject(one) && level < DEEP_LEVELS_MAX) return deepPairs(inner, one, encode, level + 1);
    if (Array.isArray(one)) return one.map((item) => [inner, encode(scalar(item))]);
    return [[inner, encode(scalar(one))]];
  });
}
