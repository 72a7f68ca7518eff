import { isDeepStrictEqual } from 'node:util';
import type { ContextConflict } from '../../../api/schemas/reference-servers/context.ts';

type Context = Readonly<Record<string, unknown>>;

/** The context with its updates: each replaces a member as a whole, null removes it. */
export function updated(context: Context, updates: Context): Context {
  const removed = new Set(Object.keys(updates).filter((field) => updates[field] === null));
  return Object.fromEntries(Object.entries({ ...context, ...updates }).filter(([field]) => !removed.has(field)));
}

/**
 * Members that were changed from `base` to `current`, and that `updates` would set to something else; all that were
 * changed when it is absent.
 */
export function conflictsBetween(base: Context, current: Context, updates?: Context): readonly ContextConflict[] {
  const fields = new Set([...Object.keys(base), ...Object.keys(current)]);
  return [...fields].flatMap((field) => {
    const [was, is] = [memberOf(base, field), memberOf(current, field)];
    if (isDeepStrictEqual(was, is)) return [];
    if (updates === undefined) return [conflictOf(field, { base: was, current: is })];
    if (!Object.hasOwn(updates, field)) return [];
    const yours = memberOf(updates, field) ?? undefined;
    return isDeepStrictEqual(yours, is) ? [] : [conflictOf(field, { base: was, current: is, yours })];
  });
}

const memberOf = (context: Context, field: string): unknown =>
  Object.hasOwn(context, field) ? context[field] : undefined;

const conflictOf = (field: string, sides: Readonly<Record<string, unknown>>): ContextConflict => ({
  field,
  ...Object.fromEntries(Object.entries(sides).filter(([, value]) => value !== undefined)),
});
