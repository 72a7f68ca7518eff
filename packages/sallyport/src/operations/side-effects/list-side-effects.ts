import { failure, isFailure } from '@sallyport/std/error/failure';
import {
  SideEffectGetRequest,
  SideEffectListRequest,
  SideEffectListResponse,
  SideEffectRecord,
} from '../../../api/schemas/calls/side-effect.ts';
import { needsCompensation } from '../../orchestration/side-effects.ts';
import { cursorOf, placeOf } from '../invocations/call-cursor.ts';
import { reachesAll } from '../invocations/may-reach.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { findOwn } from './may-see.ts';
import { listedSideEffect, wholeSideEffect } from './side-effect-record.ts';

/** Default number of side effects on one page. */
const PAGE = 50;

/**
 * Lists the asker's own side effects; for an asker who reads the tenant, all of them, or those of all users of one
 * agent.
 */
export const listSideEffects = operation({
  name: 'side-effects.list',
  summary: 'List what calls left behind: the own calls, or all of the tenant for who reads it',
  method: 'GET',
  path: '/v1/side-effects',
  status: 200,
  access: 'token',
  input: SideEffectListRequest,
  output: SideEffectListResponse,
  run:
    ({ sideEffects }: Pick<OperationParts, 'sideEffects'>) =>
    async ({ turn_group_id, agent_did, needs_compensation, after, limit = PAGE }, asker) => {
      const { principal } = asker;
      const owner = reachesAll(asker, 'viewer') ? undefined : principal;
      if (agent_did !== undefined && owner !== undefined && agent_did !== owner.agentDid) return { side_effects: [] };
      const before = after === undefined ? undefined : placeOf(after);
      if (after !== undefined && before === undefined) return failure('E3801', 'after must be the `next` of a page.');
      const page = await sideEffects.list(
        {
          tenantId: principal.tenantId,
          limit,
          ...(turn_group_id === undefined ? {} : { turnGroupId: turn_group_id }),
          ...(agent_did === undefined ? {} : { agentDid: agent_did }),
          ...(owner === undefined ? {} : { owner }),
          ...(before === undefined ? {} : { before }),
        },
        needs_compensation === undefined ? undefined : (effect) => needsCompensation(effect) === needs_compensation,
      );
      const { next } = page;
      return {
        side_effects: page.effects.map(listedSideEffect),
        ...(next === undefined ? {} : { next: cursorOf(next) }),
      };
    },
});

/** One side effect, with its arguments and results as far as they are kept. */
export const getSideEffect = operation({
  name: 'side-effects.get',
  summary: 'What one call left behind, with its arguments where they are kept',
  method: 'GET',
  path: '/v1/side-effects/{invocation_id}',
  status: 200,
  access: 'token',
  input: SideEffectGetRequest,
  output: SideEffectRecord,
  run:
    ({ sideEffects }: Pick<OperationParts, 'sideEffects'>) =>
    async ({ invocation_id }, asker) => {
      const effect = await findOwn(sideEffects, invocation_id, asker, 'viewer');
      if (isFailure(effect)) return effect;
      return wholeSideEffect(effect, await sideEffects.compensationOf(effect));
    },
});
