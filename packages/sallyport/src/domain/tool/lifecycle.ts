import type { DeprecationState } from '../../../api/schemas/registry.ts';

/**
 * Which state of a tool version may follow which (REG-04): a version leaves by one step after the other, and comes back
 * from anywhere. Nothing is ever deleted, so what was removed can be restored.
 */
export const VERSION_TRANSITIONS: Readonly<Record<DeprecationState, readonly DeprecationState[]>> = {
  active: ['deprecated'],
  deprecated: ['sunset', 'active'],
  sunset: ['removed', 'active'],
  removed: ['active'],
};

/** Whether `to` may follow `from` in one step. */
export function mayFollow(from: DeprecationState, to: DeprecationState): boolean {
  return VERSION_TRANSITIONS[from].includes(to);
}

/** The steps by which a version leaves, first to last. */
const WAY_OUT: readonly DeprecationState[] = ['active', 'deprecated', 'sunset', 'removed'];

/** The states that a version goes through on its way from one to a later one, the last included. Empty when `to` is no later state. */
export function wayOut(from: DeprecationState, to: DeprecationState): readonly DeprecationState[] {
  return WAY_OUT.slice(WAY_OUT.indexOf(from) + 1, WAY_OUT.indexOf(to) + 1);
}
