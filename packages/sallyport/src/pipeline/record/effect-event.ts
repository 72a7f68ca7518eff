// Called for each event of a call; a pure tool has no effect to report.

import { randomUUID } from 'node:crypto';
import type { EventType } from '../../../api/schemas/cloud-event.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { ownEffectStatus } from '../../domain/invocation/side-effect.ts';
import type { Transition } from '../ongoing/ongoing-call.ts';

/** The audit of a side effect at one moment of its call (VIS-03). */
export interface EffectEvent {
  readonly type: EventType;
  /** The member `side_effect`. */
  readonly sideEffect: Readonly<Record<string, unknown>>;
}

/**
 * The event for the transition at `place`: STARTED with EXECUTING, COMPLETED or FAILED with the end of a call that was
 * executing. Undefined for a pure tool, and for every other transition.
 */
export function effectEventOf(
  record: InvocationRecord,
  transitions: readonly Transition[],
  place: number,
): EffectEvent | undefined {
  const { sideEffect } = record;
  if (sideEffect === undefined || sideEffect === 'pure') return undefined;
  const state = transitions[place]?.state;
  if (state === 'EXECUTING') return said('ai.agent.tool.side_effect.started', record, 'executing');
  const isEnd = place === transitions.length - 1 && transitions.some((each) => each.state === 'EXECUTING');
  if (!isEnd) return undefined;
  // The call was cancelled while its row was written: its side effect was announced, so its end is audited too.
  const status = ownEffectStatus(record) ?? 'failed';
  return status === 'executed'
    ? said('ai.agent.tool.side_effect.completed', record, status)
    : said('ai.agent.tool.side_effect.failed', record, status);
}

/** The end of a side effect whose call was cut off: no other process is left to report it. */
export function lostEffect(record: InvocationRecord, now: number): EventDraft[] {
  const { tenantId, invocationId, agentDid, toolId } = record;
  const status = ownEffectStatus(record);
  if (status === undefined) return [];
  return [
    {
      id: randomUUID(),
      type: 'ai.agent.tool.side_effect.failed',
      time: now,
      tenantId,
      subject: invocationId,
      data: {
        agent_did: agentDid,
        invocation_id: invocationId,
        side_effect: memberOf(record, status),
        tenant_id: tenantId,
        tool_id: toolId,
      },
    },
  ];
}

const said = (type: EventType, record: InvocationRecord, status: string): EffectEvent => ({
  type,
  sideEffect: memberOf(record, status),
});

/** Members in ascending order. */
const memberOf = (
  { compensates, compensation, failure, idempotencyKey, sideEffect }: InvocationRecord,
  status: string,
) => ({
  ...(compensates === undefined ? {} : { compensates }),
  ...(compensation === undefined ? {} : { compensation_tool: compensation.toolId }),
  ...(failure === undefined ? {} : { e_code: failure.code }),
  ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
  policy: sideEffect,
  status,
});
