import { pointerTo } from '@sallyport/std/json/json-pointer';
import { uniqueNames } from '@sallyport/std/text/unique-names';
import type { RedactionKind } from './kinds.ts';

/** Deeper values are replaced as a whole, since they were not examined. */
const DEPTH_MAX = 128;

/** Callbacks for texts and fields during the walk. */
export interface Visitor {
  /** A text, and the name of its field. */
  text(text: string, name: string, path: string): string;
  /** A text that its field's name marks as secret. */
  secret(text: string, kind: RedactionKind, path: string): string;
  kindOf(name: string): RedactionKind | undefined;
  /** A value too deep to be examined. */
  tooDeep(path: string): string;
}

/** The value with all texts and names visited; the same object where nothing changed. */
export function walkValue(value: unknown, visitor: Visitor): unknown {
  return visit(value, '', '', undefined, 0, visitor);
}

function visit(
  value: unknown,
  name: string,
  path: string,
  secret: RedactionKind | undefined,
  depth: number,
  visitor: Visitor,
): unknown {
  if (typeof value === 'string') {
    return secret === undefined ? visitor.text(value, name, path) : visitor.secret(value, secret, path);
  }
  if (typeof value === 'number' && (secret === 'ssn' || secret === 'card' || secret === 'password')) {
    return visitor.secret(String(value), secret, path);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return visitor.tooDeep(path);
  return Array.isArray(value)
    ? visitList(value, name, path, secret, depth, visitor)
    : visitObject(value as Record<string, unknown>, path, secret, depth, visitor);
}

function visitList(
  list: readonly unknown[],
  name: string,
  path: string,
  secret: RedactionKind | undefined,
  depth: number,
  visitor: Visitor,
): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (let i = 0; i < list.length; i += 1) {
    const kept = visit(list[i], name, pointerTo(path, i), secret, depth + 1, visitor);
    if (kept === list[i]) continue;
    changed ??= [...list];
    changed[i] = kept;
  }
  return changed ?? list;
}

function visitObject(
  object: Readonly<Record<string, unknown>>,
  path: string,
  secret: RedactionKind | undefined,
  depth: number,
  visitor: Visitor,
): Readonly<Record<string, unknown>> {
  const entries: [string, unknown][] = [];
  const unique = uniqueNames(withNumber);
  let isSame = true;
  for (const key of Object.keys(object)) {
    // A name may itself be sensitive, as in a map by address; so the path contains only its redacted form.
    const shown = unique(visitor.text(key, '', path));
    const kind = secret ?? visitor.kindOf(key);
    const kept = visit(object[key], key, pointerTo(path, shown), kind, depth + 1, visitor);
    if (shown !== key || kept !== object[key]) isSame = false;
    entries.push([shown, kept]);
  }
  return isSame ? object : Object.fromEntries(entries);
}

/** Names that become equal get a number. */
const withNumber = (name: string, number: number): string => `${name}#${number}`;
