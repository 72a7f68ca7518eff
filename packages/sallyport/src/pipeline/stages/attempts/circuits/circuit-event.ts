import { randomUUID } from 'node:crypto';
import type { EventType } from '../../../../../api/schemas/cloud-event.ts';
import type { CircuitChange, CircuitState } from '../../../../domain/circuit/circuit.ts';
import { percentOf } from '../../../../domain/circuit/sliding-window.ts';
import type { EventDraft } from '../../../../domain/event/event-draft.ts';

/** The owner of the circuit, and the time of its change. */
export interface ChangedCircuit {
  readonly tenantId: string;
  readonly name: string;
  readonly change: CircuitChange;
  /** Epoch ms. */
  readonly at: number;
  /** Further members of the event: the call or the person that changed the circuit. */
  readonly by: Readonly<Record<string, unknown>>;
}

const TYPES: Readonly<Record<CircuitState, EventType>> = {
  open: 'ai.agent.circuit.opened',
  forced_open: 'ai.agent.circuit.opened',
  half_open: 'ai.agent.circuit.half_opened',
  closed: 'ai.agent.circuit.closed',
  disabled: 'ai.agent.circuit.closed',
};

/** A change of a circuit as it is audited (000 §4.3.6, §4.3.7). */
export function circuitEvent({ tenantId, name, change, at, by }: ChangedCircuit): EventDraft {
  const { from, to, cause, counts, terms, trialsSucceeded } = change;
  const { calls, failures, slowCalls } = counts;
  return {
    id: randomUUID(),
    type: TYPES[to],
    time: Math.round(at),
    tenantId,
    subject: name,
    data: {
      call_count: calls,
      cause,
      circuit_name: name,
      failure_count: failures,
      failure_rate: percentOf(failures, calls),
      previous_state: from,
      reason: reasonOf(change),
      slow_call_count: slowCalls,
      slow_call_rate: percentOf(slowCalls, calls),
      state: to,
      tenant_id: tenantId,
      window_size: terms.windowSize,
      window_type: terms.windowType,
      ...(to === 'open' ? { wait_ms: terms.waitMs } : {}),
      ...(trialsSucceeded === undefined ? {} : { test_success_count: trialsSucceeded }),
      ...by,
    },
  };
}

function reasonOf({ cause, counts: { calls, failures, slowCalls }, terms, to }: CircuitChange): string {
  const { failureRateThreshold, failuresInRow, slowCallRateThreshold, slowCallMs, waitMs } = terms;
  switch (cause) {
    case 'failure_rate':
      return `Failure rate ${percentOf(failures, calls)}% reached the threshold of ${failureRateThreshold}%`;
    case 'slow_call_rate':
      return `Slow call rate ${percentOf(slowCalls, calls)}% (over ${slowCallMs} ms) reached the threshold of ${slowCallRateThreshold}%`;
    case 'consecutive_failures':
      return `${failuresInRow} calls in a row failed`;
    case 'waited':
      return `The wait of ${waitMs / 1000} s is over; trial calls are let through`;
    case 'trials_failed':
      return `${failures} of ${calls} trial calls failed`;
    case 'trials_slow':
      return `${slowCalls} of ${calls} trial calls took longer than ${slowCallMs} ms`;
    case 'trials_succeeded':
      return 'Half-open test calls succeeded';
    case 'probe_failed':
      return 'The health probe failed';
    case 'set':
      return `Set to ${to} by hand`;
  }
}
