import { isFailure } from '@sallyport/std/error/failure';
import type { Run } from '../catalogue/run.ts';
import { type OutcomeParts, shownOutcome, storeOf, unknownOutcome } from './shown-outcome.ts';

/** Calls on a page when the asker names no number. */
const PAGE = 100;

/** The calls of the tenant whose outcome is not known, the oldest first (PIPE-13). */
export function listOutcomes(parts: OutcomeParts): Run<'outcomes.list'> {
  return async ({ settled = false, after, limit = PAGE }, { principal: { tenantId } }) => {
    const store = storeOf(parts);
    if (isFailure(store)) return store;
    const before = after === undefined ? undefined : await unknownOutcome(parts, tenantId, after);
    if (before !== undefined && isFailure(before)) return before;
    const place = before === undefined ? {} : { after: before.record };
    return { outcomes: (await store.list({ tenantId, settled, limit, ...place })).map(shownOutcome) };
  };
}

/** One of them, with its settlement where there is one. */
export function getOutcome(parts: OutcomeParts): Run<'outcomes.get'> {
  return async ({ invocation_id }, { principal: { tenantId } }) => {
    const found = await unknownOutcome(parts, tenantId, invocation_id);
    if (isFailure(found)) return found;
    const settlement = await found.store.find(tenantId, invocation_id);
    return shownOutcome({ record: found.record, ...(settlement === undefined ? {} : { settlement }) });
  };
}
