import type { CallPriority } from '../../../api/schemas/invocation.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';

/**
 * How much later than a high-priority call one of another priority is due, ms. A waiting call gains on later ones: any
 * call that comes later by more than this runs after it, so none starves (PIPE-08).
 */
const HANDICAP_MS: Readonly<Record<CallPriority, number>> = { high: 0, normal: 15_000, low: 60_000 };

/** When a call is due, in epoch ms: the order in which calls run. */
export function dueOf({ waiting, acceptedAt }: Pick<InvocationRecord, 'waiting' | 'acceptedAt'>): number {
  return acceptedAt + HANDICAP_MS[waiting?.request.execution_options?.priority ?? 'normal'];
}
