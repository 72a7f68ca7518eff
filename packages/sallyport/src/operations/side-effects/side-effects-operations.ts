import type { OperationsOf } from '../catalogue/run.ts';
import type { SIDE_EFFECTS } from '../catalogue/side-effects.ts';
import type { OperationParts } from '../parts.ts';
import { compensateMany, compensateOne } from './compensate-side-effects.ts';
import { getSideEffect, listSideEffects } from './list-side-effects.ts';

/** What calls left behind. */
export function sideEffectsOperations(parts: OperationParts): OperationsOf<typeof SIDE_EFFECTS> {
  return {
    'side-effects.list': listSideEffects(parts),
    'side-effects.get': getSideEffect(parts),
    'side-effects.compensate': compensateOne(parts),
    'side-effects.compensate-all': compensateMany(parts),
  };
}
