import { type Failure, isFailure } from '@sallyport/std/error/failure';
import { LifecycleState } from '../../api/schemas/invocation.ts';
import type { CallQuery } from '../audit/ledger-store.port.ts';
import { isFinal } from '../domain/invocation/lifecycle.ts';
import { type InvocationRecord, waitedInVain } from '../domain/invocation/record.ts';
import { type Compensated, compensate } from './side-effects/compensate.ts';
import { compensateAll, type OneOfMany } from './side-effects/compensate-all.ts';
import type { CompensationAsker, CompensationParts } from './side-effects/compensation-parts.ts';
import { callOf, giveUp, settle } from './side-effects/settle-compensation.ts';
import { needsCompensation, type SideEffect } from './side-effects/side-effect-view.ts';
import { standingEffects } from './side-effects/standing.ts';

export type { Compensated, CompensationAsker, CompensationParts, OneOfMany, SideEffect };
export { needsCompensation };

/** One page of side effects, latest accepted first. */
export interface SideEffectPage {
  readonly effects: readonly SideEffect[];
  /** Cursor of the next page; absent on the last one. */
  readonly next?: Pick<InvocationRecord, 'acceptedAt' | 'invocationId'>;
}

/** Side effects of calls, and their compensation (VIS-03). */
export interface SideEffects {
  /**
   * @param wanted keeps only matching side effects; calls whose tool was never reached never match. A page may then
   *   hold fewer than `limit` although more follow
   */
  list(query: CallQuery, wanted?: (effect: SideEffect) => boolean): Promise<SideEffectPage>;
  /** Calls that are not over, latest accepted first: each may still leave a side effect. */
  unfinished(query: CallQuery): Promise<readonly InvocationRecord[]>;
  /** Undefined when this tenant has no such call, or the call left no side effect. */
  find(tenantId: string, invocationId: string): Promise<SideEffect | undefined>;
  /** The row of the compensating call; undefined while there is none. */
  compensationOf(effect: SideEffect): Promise<InvocationRecord | undefined>;
  /**
   * Compensates one side effect, once. An ended attempt is answered with its end.
   * @returns E3818 for a side effect that cannot be taken back
   */
  compensate(
    record: InvocationRecord,
    asker: CompensationAsker,
    said?: Readonly<Record<string, unknown>>,
  ): Promise<Compensated | Failure>;
  /** Compensates many, latest first; `records` in the order in which they ran. */
  compensateAll(
    records: readonly InvocationRecord[],
    asker: CompensationAsker,
    continueOnFailure: boolean,
  ): Promise<readonly OneOfMany[]>;
  /**
   * Records the outcome of compensations whose asker is gone and whose call is over, 1 000 at most. Others continue
   * when somebody asks again. Called periodically: calls end at any time.
   * @returns how many came to an end
   */
  settleOpen(): Promise<number>;
}

/** Pages that are read for one page of results at most: many rows may not match. */
const PAGES_READ_MAX = 10;
const UNFINISHED = LifecycleState.enum.filter((state) => !isFinal(state));
/** Compensations examined by one `settleOpen`. */
const OPEN_MAX = 1_000;

/** Reads side effects from the record of calls and the rows of compensations. */
export function createSideEffects(parts: CompensationParts): SideEffects {
  const { records } = parts;
  return {
    list: (query, wanted) => list(parts, query, wanted),
    unfinished: (query) => records.calls({ ...query, sideEffects: true, states: UNFINISHED }),
    async find(tenantId, invocationId) {
      const record = await records.findInvocation(tenantId, invocationId);
      if (record === undefined) return undefined;
      const [effect] = await standingEffects(parts, tenantId, [record]);
      return effect;
    },
    compensationOf: async ({ compensation }) =>
      compensation === undefined
        ? undefined
        : records.findInvocation(compensation.tenantId, compensation.compensationId),
    compensate: (record, asker, said) => compensate(parts, record, asker, said),
    compensateAll: (given, asker, continueOnFailure) => compensateAll(parts, given, asker, continueOnFailure),
    settleOpen: () => settleOpen(parts),
  };
}

async function list(
  parts: CompensationParts,
  query: CallQuery,
  wanted: (effect: SideEffect) => boolean = () => true,
): Promise<SideEffectPage> {
  const effects: SideEffect[] = [];
  let { before } = query;
  for (let read = 0; read < PAGES_READ_MAX; read += 1) {
    const rows = await parts.records.calls({
      ...query,
      sideEffects: true,
      ...(before === undefined ? {} : { before }),
    });
    const standing = await standingEffects(parts, query.tenantId, rows);
    for (const [at, record] of rows.entries()) {
      const effect = standing[at];
      if (effect !== undefined && wanted(effect)) effects.push(effect);
      before = { acceptedAt: record.acceptedAt, invocationId: record.invocationId };
      if (effects.length === query.limit) return { effects, next: before };
    }
    if (rows.length < query.limit) return { effects };
  }
  return { effects, ...(before === undefined ? {} : { next: before }) };
}

async function settleOpen(parts: CompensationParts): Promise<number> {
  let ended = 0;
  for (const open of await parts.compensations.open(OPEN_MAX)) {
    const [record, call] = await Promise.all([
      parts.records.findInvocation(open.tenantId, open.invocationId),
      callOf(parts, open),
    ]);
    if (record === undefined || call === undefined || !isFinal(call.state)) continue;
    // Its asker was answered when it began to wait.
    if (waitedInVain(call)) {
      await giveUp(parts, open, call.failure);
      continue;
    }
    const settled = await settle(parts, record, open, call);
    if (!isFailure(settled) && settled.state !== 'compensating') ended += 1;
  }
  return ended;
}
