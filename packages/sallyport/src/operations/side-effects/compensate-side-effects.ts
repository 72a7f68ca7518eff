import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import {
  CompensateAllRequest,
  CompensateAllResponse,
  CompensateRequest,
  CompensationOutcome,
} from '../../../api/schemas/calls/side-effect.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { SideEffect, SideEffects } from '../../orchestration/side-effects.ts';
import { reachesAll } from '../invocations/may-reach.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { findOwn } from './may-see.ts';
import { compensationOutcome } from './side-effect-record.ts';

/** Side effects that are compensated by one request. */
const EFFECTS_MAX = 100;

/** Compensates one side effect; the answer is the outcome, also when it failed. */
export const compensateOne = operation({
  name: 'side-effects.compensate',
  summary: 'Take back what one call left behind, once, by the tool that its tool names',
  method: 'POST',
  path: '/v1/side-effects/{invocation_id}/compensation',
  status: 200,
  access: 'token',
  input: CompensateRequest,
  output: CompensationOutcome,
  run:
    ({ sideEffects }: Pick<OperationParts, 'sideEffects'>) =>
    async ({ invocation_id, arguments: said }, asker) => {
      const effect = await findOwn(sideEffects, invocation_id, asker, 'operator');
      if (isFailure(effect)) return effect;
      const { record } = effect;
      const done = await sideEffects.compensate(record, askerOf(asker), said);
      if (isFailure(done)) return done;
      const { failure: failed } = done;
      const { status } = done.effect;
      const outcome =
        status === 'compensated' || (status === 'compensating' && failed === undefined)
          ? status
          : status === 'compensation_unknown'
            ? 'unknown'
            : 'failed';
      return compensationOutcome({ record, outcome, done, ...(failed === undefined ? {} : { failure: failed }) });
    },
});

/** Compensates many, starting with the one that ran last. */
export const compensateMany = operation({
  name: 'side-effects.compensate-all',
  summary: 'Take back what the calls of a turn group left behind, or calls by name, the last first',
  method: 'POST',
  path: '/v1/compensations',
  status: 200,
  access: 'token',
  input: CompensateAllRequest,
  output: CompensateAllResponse,
  run:
    ({ sideEffects }: Pick<OperationParts, 'sideEffects'>) =>
    async (request, asker) => {
      const records = await recordsOf(sideEffects, request, asker);
      if (isFailure(records)) return records;
      const outcomes = await sideEffects.compensateAll(records, askerOf(asker), request.continue_on_failure === true);
      return {
        complete: outcomes.every(({ outcome }) => outcome === 'compensated' || outcome === 'not_compensatable'),
        outcomes: outcomes.map(compensationOutcome),
      };
    },
});

const askerOf = ({ caller, principal }: Asker) => ({ caller, agentDid: principal.agentDid });

/** The calls in the order in which they ran. */
async function recordsOf(
  sideEffects: SideEffects,
  { turn_group_id: turnGroupId, invocation_ids: ids }: CompensateAllRequest,
  asker: Asker,
): Promise<readonly InvocationRecord[] | Failure> {
  if ((turnGroupId === undefined) === (ids === undefined)) {
    return failure('E3801', 'Name either turn_group_id or invocation_ids.');
  }
  return turnGroupId === undefined ? named(sideEffects, ids ?? [], asker) : ofTurn(sideEffects, turnGroupId, asker);
}

async function named(
  sideEffects: SideEffects,
  ids: readonly string[],
  asker: Asker,
): Promise<readonly InvocationRecord[] | Failure> {
  const found: InvocationRecord[] = [];
  for (const id of ids) {
    const effect = await findOwn(sideEffects, id, asker, 'operator');
    if (isFailure(effect)) return effect;
    found.push(effect.record);
  }
  return found;
}

async function ofTurn(
  sideEffects: SideEffects,
  turnGroupId: string,
  asker: Asker,
): Promise<readonly InvocationRecord[] | Failure> {
  const { principal } = asker;
  const { tenantId } = principal;
  const own = reachesAll(asker, 'operator') ? {} : { owner: principal };
  const wanted = ({ record, status }: SideEffect): boolean =>
    (record.state === 'COMPLETED' || status === 'unknown') && record.compensates === undefined;
  const query = { tenantId, turnGroupId, ...own, limit: EFFECTS_MAX };
  // Asked for first: a call that ends meanwhile is then found twice, and not missed.
  const unfinished = await sideEffects.unfinished(query);
  const { effects, next } = await sideEffects.list(query, wanted);
  if (next !== undefined) {
    return failure('E3810', `The turn group has more than ${EFFECTS_MAX} side effects. Name the calls in parts.`);
  }
  // The sort is stable: calls that ended at the same time stay in the order of acceptance.
  const inOrder = effects.map(({ record }) => record).reverse();
  const isKnown = ({ invocationId }: InvocationRecord): boolean =>
    inOrder.some((record) => record.invocationId === invocationId);
  // Calls that are not over come last: what runs may build on what ran.
  const last = unfinished.filter((record) => record.compensates === undefined && !isKnown(record)).reverse();
  return [...inOrder.sort((one, other) => endOf(one) - endOf(other)), ...last];
}

/** Epoch ms; of calls that ran side by side, the one that ended later may build on the other. */
const endOf = ({ metadata, acceptedAt }: InvocationRecord): number =>
  metadata?.completed_at === undefined ? acceptedAt : Date.parse(metadata.completed_at);
