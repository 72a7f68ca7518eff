import { type Failure, failure } from '@sallyport/std/error/failure';
import type { SideEffect, SideEffects } from '../../orchestration/side-effects.ts';
import { mayReach, type Reach } from '../invocations/may-reach.ts';
import type { Asker } from '../operation.ts';

/** A side effect of the asker; one answer both for a missing one and for another owner's. */
export async function findOwn(
  sideEffects: SideEffects,
  invocationId: string,
  asker: Asker,
  reach: Reach,
): Promise<SideEffect | Failure> {
  const effect = await sideEffects.find(asker.principal.tenantId, invocationId);
  if (effect === undefined || !mayReach(asker, effect.record, reach)) return noSuch(invocationId);
  return effect;
}

const noSuch = (invocationId: string): Failure =>
  failure('E3809', `There is no side effect of a call ${invocationId} that you may see.`);
