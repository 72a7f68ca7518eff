import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Compensation } from '../compensation-store.port.ts';
import type { CompensationParts } from './compensation-parts.ts';
import { writeEnd } from './settle-compensation.ts';
import { type SideEffect, sideEffectView } from './side-effect-view.ts';

type Parts = Pick<CompensationParts, 'compensations' | 'outcomes' | 'records' | 'ledger' | 'clock' | 'log'>;

/** The present side effects of these calls; undefined at the index of a call that has none. */
export async function standingEffects(
  parts: Parts,
  tenantId: string,
  records: readonly InvocationRecord[],
): Promise<readonly (SideEffect | undefined)[]> {
  const ids = records.map(({ invocationId }) => invocationId);
  const unknown = records.filter(({ failure }) => failure?.code === 'E3804').map(({ invocationId }) => invocationId);
  const [compensations, settlements] = await Promise.all([
    standingCompensations(parts, tenantId, ids),
    unknown.length === 0 ? [] : parts.outcomes.findAll(tenantId, unknown),
  ]);
  const byId = new Map(compensations.map((each) => [each.invocationId, each]));
  const settled = new Map(settlements.map((each) => [each.invocationId, each]));
  return records.map((record) =>
    sideEffectView(record, byId.get(record.invocationId), settled.get(record.invocationId)),
  );
}

/** The compensations of these calls. One with an unknown end follows the settlement of its call. */
export async function standingCompensations(
  parts: Parts,
  tenantId: string,
  invocationIds: readonly string[],
): Promise<readonly Compensation[]> {
  const rows = await parts.compensations.find(tenantId, invocationIds);
  return Promise.all(rows.map((row) => (row.state === 'unknown' ? follow(parts, row) : row)));
}

async function follow(parts: Parts, row: Compensation): Promise<Compensation> {
  const { tenantId, invocationId, compensationId, attempt } = row;
  const settlement = await parts.outcomes.find(tenantId, compensationId);
  if (settlement === undefined) return row;
  const { errorCode, ...rest } = row;
  const isDone = settlement.outcome === 'happened';
  const settled: Compensation = {
    ...rest,
    state: isDone ? 'compensated' : 'failed',
    endedAt: parts.clock.now(),
    ...(isDone || errorCode === undefined ? {} : { errorCode }),
  };
  const record = isDone ? await parts.records.findInvocation(tenantId, invocationId) : undefined;
  if (await writeEnd(parts, settled, { attempt, state: 'unknown' }, record)) return settled;
  // Another instance found the same and wrote it.
  const [now] = await parts.compensations.find(tenantId, [invocationId]);
  return now ?? settled;
}
