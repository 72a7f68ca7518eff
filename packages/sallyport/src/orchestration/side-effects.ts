import type { Failure } from '@sallyport/std/error/failure';
import type { CallQuery } from '../audit/ledger-store.port.ts';
import { isFinal } from '../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import { type Compensated, compensate } from './side-effects/compensate.ts';
import { compensateAll, type OneOfMany } from './side-effects/compensate-all.ts';
import type { CompensationAsker, CompensationParts } from './side-effects/compensation-parts.ts';
import { settle } from './side-effects/settle-compensation.ts';
import { needsCompensation, type SideEffect } from './side-effects/side-effect-view.ts';
import { standingEffects } from './side-effects/standing.ts';

export type { Compensated, CompensationAsker, CompensationParts, OneOfMany, SideEffect };
export { needsCompensation };

/** One page of side effects, the last accepted first. */
export interface SideEffectPage {
  readonly effects: readonly SideEffect[];
  /** Where the next page begins; absent behind the last. */
  readonly next?: Pick<InvocationRecord, 'acceptedAt' | 'invocationId'>;
}

/** What calls left behind, and how it is taken back (VIS-03). */
export interface SideEffects {
  /**
   * @param wanted only those that fit; rows of calls whose tool was never reached fit nothing. A page may then hold fewer
   *   than `limit`, although there are more behind it
   */
  list(query: CallQuery, wanted?: (effect: SideEffect) => boolean): Promise<SideEffectPage>;
  /** Undefined when this tenant has no such call, or it left nothing behind. */
  find(tenantId: string, invocationId: string): Promise<SideEffect | undefined>;
  /** The row of the call that takes a side effect back; undefined while there is none. */
  compensationOf(effect: SideEffect): Promise<InvocationRecord | undefined>;
  /**
   * Takes one back, once. An ended attempt is answered as it ended.
   * @returns E3818 for what cannot be taken back
   */
  compensate(
    record: InvocationRecord,
    asker: CompensationAsker,
    said?: Readonly<Record<string, unknown>>,
  ): Promise<Compensated | Failure>;
  /** Takes many back, the last first; `records` in the order in which they ran. */
  compensateAll(
    records: readonly InvocationRecord[],
    asker: CompensationAsker,
    continueOnFailure: boolean,
  ): Promise<readonly OneOfMany[]>;
  /**
   * Writes down what became of compensations whose asker is gone, 1 000 at most: those whose call is over. The others are
   * continued by whoever asks again. To be done again and again: calls end at any time.
   * @returns how many came to an end
   */
  settleOpen(): Promise<number>;
}

/** Rows that are read for one page at most, in pages' lengths: most of them may not fit. */
const PAGES_READ_MAX = 10;
/** Compensations looked at by one `settleOpen`. */
const OPEN_MAX = 1_000;

/** Side effects over the record of calls and the rows of what was taken back. */
export function createSideEffects(parts: CompensationParts): SideEffects {
  const { records } = parts;
  return {
    list: (query, wanted) => list(parts, query, wanted),
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
    const { tenantId, invocationId, compensationId } = open;
    const [record, call] = await Promise.all([
      parts.records.findInvocation(tenantId, invocationId),
      parts.records.findInvocation(tenantId, compensationId),
    ]);
    if (record === undefined || call === undefined || !isFinal(call.state)) continue;
    const settled = await settle(parts, record, open, call);
    if ('failed' in settled) continue;
    if (settled.state !== 'compensating') ended += 1;
  }
  return ended;
}
