import type { DeprecationState } from '../../../api/schemas/registry.ts';

/**
 * Allowed transitions of a tool version (REG-04): it is withdrawn step by step, and can be restored from any state.
 * Nothing is ever deleted, so a removed version can be restored too.
 */
export const VERSION_TRANSITIONS: Readonly<Record<DeprecationState, readonly DeprecationState[]>> = {
  active: ['deprecated'],
  deprecated: ['sunset', 'active'],
  sunset: ['removed', 'active'],
  removed: ['active'],
};

/** True when `to` may follow `from` in one step. */
export function mayFollow(from: DeprecationState, to: DeprecationState): boolean {
  return VERSION_TRANSITIONS[from].includes(to);
}

/** The steps by which a version is withdrawn, first to last. */
const WAY_OUT: readonly DeprecationState[] = ['active', 'deprecated', 'sunset', 'removed'];

/** The states from one to a later one, the last included. Empty when `to` is not later. */
export function wayOut(from: DeprecationState, to: DeprecationState): readonly DeprecationState[] {
  return WAY_OUT.slice(WAY_OUT.indexOf(from) + 1, WAY_OUT.indexOf(to) + 1);
}
