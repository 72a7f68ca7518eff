import { isFailure } from '@sallyport/std/error/failure';
import {
  OutcomeGetRequest,
  OutcomeListRequest,
  OutcomeListResponse,
  UnknownOutcome,
} from '../../../api/schemas/calls/outcome.ts';
import { operation } from '../operation.ts';
import { type OutcomeParts, shownOutcome, unknownOutcome } from './shown-outcome.ts';

/** Default number of calls on a page. */
const PAGE = 100;

/** The calls of the tenant with an unknown outcome, oldest first (PIPE-13). */
export const listOutcomes = operation({
  name: 'outcomes.list',
  summary: 'List the calls whose outcome is not known',
  method: 'GET',
  path: '/v1/outcomes',
  status: 200,
  access: 'viewer',
  input: OutcomeListRequest,
  output: OutcomeListResponse,
  run:
    (parts: OutcomeParts) =>
    async ({ settled = false, after, limit = PAGE }, { principal: { tenantId } }) => {
      const before = after === undefined ? undefined : await unknownOutcome(parts, tenantId, after);
      if (before !== undefined && isFailure(before)) return before;
      const place = before === undefined ? {} : { after: before };
      return { outcomes: (await parts.outcomes.list({ tenantId, settled, limit, ...place })).map(shownOutcome) };
    },
});

/** One such call, with its settlement if there is one. */
export const getOutcome = operation({
  name: 'outcomes.get',
  summary: 'Show a call whose outcome is or was not known',
  method: 'GET',
  path: '/v1/outcomes/{invocation_id}',
  status: 200,
  access: 'viewer',
  input: OutcomeGetRequest,
  output: UnknownOutcome,
  run:
    (parts: OutcomeParts) =>
    async ({ invocation_id }, { principal: { tenantId } }) => {
      const record = await unknownOutcome(parts, tenantId, invocation_id);
      if (isFailure(record)) return record;
      const settlement = await parts.outcomes.find(tenantId, invocation_id);
      return shownOutcome({ record, ...(settlement === undefined ? {} : { settlement }) });
    },
});
