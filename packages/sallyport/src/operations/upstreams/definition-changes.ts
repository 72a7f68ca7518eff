import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { DefinitionChange } from '../../../api/schemas/registry/quarantine.ts';

/** Changes that are listed one by one. */
export const CHANGES_MAX = 100;
const TEXT_CHARS_MAX = 2_000;

/**
 * Differences between two JSON values, member by member, in the order of the first; lists of plain values are compared
 * as a whole.
 */
export function definitionChanges(before: unknown, after: unknown): { changes: DefinitionChange[]; leftOut: number } {
  const changes: DefinitionChange[] = [];
  let leftOut = 0;
  for (const change of differences('', before, after)) {
    if (changes.length < CHANGES_MAX) changes.push(change);
    else leftOut += 1;
  }
  return { changes, leftOut };
}

function* differences(path: string, before: unknown, after: unknown): Generator<DefinitionChange> {
  if (before === after || canonicalJson(before) === canonicalJson(after)) return;
  if (before === undefined) yield { path, kind: 'added', after: shown(after) };
  else if (after === undefined) yield { path, kind: 'removed', before: shown(before) };
  else if (isStructure(before) && isStructure(after) && Array.isArray(before) === Array.isArray(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      yield* differences(pointerTo(path, key), memberOf(before, key), memberOf(after, key));
    }
  } else yield { path, kind: 'changed', before: shown(before), after: shown(after) };
}

/** Objects, and lists that hold some; lists of plain values such as `required` are easier to read as a whole. */
function isStructure(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return !Array.isArray(value) || value.some((item) => typeof item === 'object' && item !== null);
}

const memberOf = (value: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX - 1)}…`.toWellFormed();
}
