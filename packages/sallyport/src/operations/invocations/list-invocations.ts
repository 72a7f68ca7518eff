import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { CallListRequest, CallListResponse, type ListedCall } from '../../../api/schemas/calls/call-list.ts';
import type { CallQuery } from '../../audit/ledger-store.port.ts';
import { statusOf } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { cursorOf, placeOf } from './call-cursor.ts';
import { reachesAll } from './may-reach.ts';

/** Default number of calls on one page. */
const PAGE = 50;

/** Calls on record, latest accepted first: the asker's own, or all of the tenant for an asker who may read them. */
export const listInvocations = operation({
  name: 'invocations.list',
  summary: 'List invocations: the own ones, or all of the tenant for who reads it',
  method: 'GET',
  path: '/v1/invocations',
  status: 200,
  access: 'token',
  input: CallListRequest,
  output: CallListResponse,
  run:
    ({ records }: Pick<OperationParts, 'records'>) =>
    async (request, asker) => {
      const query = queryOf(request, asker);
      if (isFailure(query)) return query;
      // One more than the page holds, to see whether another page follows.
      const found = await records.calls({ ...query, limit: query.limit + 1 });
      const page = found.slice(0, query.limit);
      const last = page.at(-1);
      return {
        invocations: page.map(listed),
        ...(found.length > page.length && last !== undefined ? { next: cursorOf(last) } : {}),
      };
    },
});

function queryOf(request: CallListRequest, asker: Asker): CallQuery | Failure {
  const { own, deferred, state, tool_id, agent_did, since, until, cursor, limit = PAGE } = request;
  const before = cursor === undefined ? undefined : placeOf(cursor);
  if (cursor !== undefined && before === undefined) {
    return failure('E3801', 'cursor must be the `next` of the previous page.');
  }
  const from = since === undefined ? undefined : Date.parse(since);
  const to = until === undefined ? undefined : Date.parse(until);
  // The format allows leap seconds, which Date cannot represent.
  if (Number.isNaN(from) || Number.isNaN(to)) {
    const name = Number.isNaN(from) ? 'since' : 'until';
    return failure('E3801', `${name} must be a time such as 2026-01-31T12:00:00Z.`);
  }
  return {
    tenantId: asker.principal.tenantId,
    limit,
    ...(own !== true && reachesAll(asker, 'viewer') ? {} : { owner: asker.principal }),
    ...(deferred === true ? { deferred } : {}),
    ...(state === undefined ? {} : { states: state }),
    ...(tool_id === undefined ? {} : { toolId: tool_id }),
    ...(agent_did === undefined ? {} : { agentDid: agent_did }),
    ...(from === undefined ? {} : { since: from }),
    ...(to === undefined ? {} : { until: to }),
    ...(before === undefined ? {} : { before }),
  };
}

function listed(record: InvocationRecord): ListedCall {
  const {
    invocationId,
    state,
    failure: failed,
    waiting,
    toolVersion,
    agentDid,
    userDid,
    sideEffect,
    metadata,
    resultForgottenAt,
  } = record;
  const duration = metadata?.duration_ms;
  return {
    invocation_id: invocationId,
    status: statusOf(state, failed, waiting?.wait.for),
    state,
    tool_id: record.calledAs ?? record.toolId,
    ...(toolVersion === undefined ? {} : { tool_version: toolVersion }),
    agent_did: agentDid,
    ...(userDid === undefined ? {} : { user_did: userDid }),
    ...(sideEffect === undefined ? {} : { side_effect_policy: sideEffect }),
    accepted_at: new Date(record.acceptedAt).toISOString(),
    ...(metadata?.completed_at === undefined ? {} : { completed_at: metadata.completed_at }),
    ...(duration === undefined ? {} : { duration_ms: duration }),
    ...(resultForgottenAt === undefined ? {} : { result_forgotten: true }),
    ...(failed === undefined ? {} : { e_code: failed.code }),
  };
}
