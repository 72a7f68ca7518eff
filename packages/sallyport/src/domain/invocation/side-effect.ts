import { isFinal } from './lifecycle.ts';
import type { InvocationRecord } from './record.ts';

/** State of the side effect of one call, before any compensation (VIS-03). */
export type OwnEffectStatus = 'executing' | 'executed' | 'failed' | 'rolled_back' | 'unknown';

/**
 * State of the side effect of a call, from its row; undefined for a call without one: its tool is pure, or was never
 * reached.
 */
export function ownEffectStatus(record: InvocationRecord): OwnEffectStatus | undefined {
  const { sideEffect, state, failure, metadata, answeredBy } = record;
  if (sideEffect === undefined || sideEffect === 'pure' || answeredBy !== undefined) return undefined;
  if (state === 'EXECUTING') return 'executing';
  if (!isFinal(state) || state === 'DENIED') return undefined;
  if (failure?.code === 'E3804') return 'unknown';
  if ((metadata?.attempts ?? 0) === 0) return undefined;
  if (state === 'COMPLETED') return 'executed';
  return state === 'ROLLED_BACK' ? 'rolled_back' : 'failed';
}
