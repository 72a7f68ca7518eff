import { KiB } from '@sallyport/std/bytes';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../../api/schemas/error.ts';
import { faultAt } from './faults/fault.ts';

/** Bounds of a foreign schema (VAL-05). */
export const SCHEMA_BOUNDS = {
  /** Levels of nesting of the document; each property of an object takes two. */
  depthMax: 128,
  /** Values in the document: objects, lists and scalars. */
  valuesMax: 50_000,
  /** Characters of all keys and texts together. */
  textMax: 2048 * KiB,
} as const;

/** The first bound that a schema exceeds, with its place. Iterative and finite even for cyclic objects. */
export function boundsFault(schema: unknown): Fault | undefined {
  const open: { value: unknown; pointer: string; depth: number }[] = [{ value: schema, pointer: '', depth: 1 }];
  let values = 0;
  let text = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, pointer, depth } = next;
    values += 1;
    if (typeof value === 'string') text += value.length;
    if (values > SCHEMA_BOUNDS.valuesMax) return tooMuch('', `holds more than ${SCHEMA_BOUNDS.valuesMax} values`);
    if (text > SCHEMA_BOUNDS.textMax) return tooMuch('', `holds more than ${SCHEMA_BOUNDS.textMax} characters`);
    if (!isJson(value)) return faultAt(pointer, 'E3008', 'schema', 'The schema holds a value that JSON cannot hold.');
    if (typeof value !== 'object' || value === null) continue;
    if (depth > SCHEMA_BOUNDS.depthMax)
      return tooMuch(
        pointer,
        `is nested more than ${SCHEMA_BOUNDS.depthMax} levels deep or refers to itself as an object`,
      );
    for (const [key, member] of Object.entries(value)) {
      text += key.length;
      open.push({ value: member, pointer: pointerTo(pointer, key), depth: depth + 1 });
    }
  }
  return undefined;
}

/** undefined stands for an absent member, as in JSON.stringify. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'bigint' && typeof value !== 'function' && typeof value !== 'symbol';
}

function tooMuch(pointer: string, what: string): Fault {
  return faultAt(
    pointer,
    'E3008',
    'schema',
    `The schema ${what}.`,
    'Make it smaller; use $defs and $ref for what repeats.',
  );
}
