// Hot path: of a call that takes its id from the layer it is one comparison.
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { randomUuid } from '../../std/text/random-uuid.ts';
import type { Flight } from '../flight/flight.ts';
import type { PipelineParts } from '../parts.ts';

/**
 * The record of a call under an id that is its own. Only `reuse` finds out whether an id that the caller chose is free; a call
 * that was refused or answered before that gets a new id where another call has the one it named. So nobody writes over the
 * row of another call, by whatever request.
 */
export async function underOwnId(
  { records, running }: Pick<PipelineParts, 'records' | 'running'>,
  { call, resumed }: Flight,
  record: InvocationRecord,
): Promise<InvocationRecord> {
  const { tenantId, invocationId } = record;
  if (call.request.invocation_id === undefined || call.fresh === true || resumed !== undefined) return record;
  const isTaken =
    running.find(tenantId, invocationId) !== undefined ||
    (await records.findInvocation(tenantId, invocationId).catch(() => 'unknown')) !== undefined;
  return isTaken ? { ...record, invocationId: randomUuid() } : record;
}
