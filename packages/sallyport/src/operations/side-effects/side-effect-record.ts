import { errorBody } from '@sallyport/std/error/failure';
import type { CompensationOutcome, SideEffectRecord } from '../../../api/schemas/calls/side-effect.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { needsCompensation, type OneOfMany, type SideEffect } from '../../orchestration/side-effects.ts';

/** A side effect as it is listed: large or needlessly detailed members are left out. */
export function listedSideEffect(effect: SideEffect): SideEffectRecord {
  const { record, status, compensation } = effect;
  const { sideEffect = 'irreversible', failure, metadata, compensation: plan } = record;
  const executedAt = metadata?.completed_at;
  return {
    id: record.invocationId,
    tool_name: record.toolId,
    ...(record.toolVersion === undefined ? {} : { tool_version: record.toolVersion }),
    agent_did: record.agentDid,
    ...(record.userDid === undefined ? {} : { user_did: record.userDid }),
    policy: sideEffect,
    status,
    started_at: new Date(record.acceptedAt).toISOString(),
    ...(executedAt === undefined || status === 'executing' ? {} : { executed_at: executedAt }),
    ...(record.turnGroupId === undefined ? {} : { turn_group_id: record.turnGroupId }),
    ...(record.idempotencyKey === undefined ? {} : { idempotency_key: record.idempotencyKey }),
    irreversible: sideEffect === 'irreversible',
    needs_compensation: needsCompensation(effect),
    ...(plan === undefined ? {} : { compensation_tool: plan.toolId }),
    ...(compensation === undefined ? {} : { compensation_id: compensation.compensationId }),
    compensation_executed: status === 'compensated',
    ...(record.compensates === undefined ? {} : { compensates: record.compensates }),
    ...(failure === undefined ? {} : { error: errorBody(failure) }),
  };
}

/** A side effect with all its kept members. */
export function wholeSideEffect(effect: SideEffect, compensating: InvocationRecord | undefined): SideEffectRecord {
  const { record } = effect;
  const compensated = effect.status === 'compensated' && compensating !== undefined && 'result' in compensating;
  return {
    ...listedSideEffect(effect),
    ...(record.compensation === undefined ? {} : { args: { ...record.compensation.parameters } }),
    ...('result' in record ? { result: record.result } : {}),
    ...(compensated ? { compensation_result: compensating.result } : {}),
  };
}

/** The outcome of a compensation. */
export function compensationOutcome({ record, outcome, done, failure }: OneOfMany): CompensationOutcome {
  const id = done?.effect.compensation?.compensationId;
  return {
    invocation_id: record.invocationId,
    tool_name: record.toolId,
    outcome,
    ...(done?.already === true ? { already: true } : {}),
    ...(id === undefined ? {} : { compensation_id: id }),
    ...(failure === undefined ? {} : { error: errorBody(failure) }),
  };
}
