import { type Failure, failure } from '@sallyport/std/error/failure';
import { isoTime } from '@sallyport/std/iso-time';
import {
  Circuit,
  CircuitListRequest,
  CircuitListResponse,
  CircuitNameRequest,
  CircuitSetRequest,
} from '../../../api/schemas/calls/circuit.ts';
import { percentOf } from '../../domain/circuit/sliding-window.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

type Parts = Pick<OperationParts, 'circuits'>;
type Store = NonNullable<Parts['circuits']>['store'];
type KnownCircuit = NonNullable<Awaited<ReturnType<Store['find']>>>;

/** Default number of circuits on a page. */
const PAGE = 50;

/** The circuits of the asker's tenant, by name, in pages. */
export const listCircuits = operation({
  name: 'circuits.list',
  summary: 'List the circuits of this instance',
  method: 'GET',
  path: '/v1/circuits',
  status: 200,
  access: 'viewer',
  input: CircuitListRequest,
  output: CircuitListResponse,
  run:
    ({ circuits }: Parts) =>
    async ({ state, after, limit = PAGE }, { principal: { tenantId } }) => {
      const place = after === undefined ? {} : { after };
      const query = { ...place, ...(state === undefined ? {} : { state }) };
      // One more than the page holds, to see whether another page follows.
      const found = (await circuits?.store.list(tenantId, { ...query, limit: limit + 1 })) ?? [];
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return { circuits: page.map(shown), ...(last === undefined ? {} : { next: last.name }) };
    },
});

/** One circuit of the asker's tenant. */
export const getCircuit = operation({
  name: 'circuits.get',
  summary: 'One circuit: its state, how calls went, when it is tried again',
  method: 'GET',
  path: '/v1/circuits/{name}',
  status: 200,
  access: 'viewer',
  input: CircuitNameRequest,
  output: Circuit,
  run:
    (parts: Parts) =>
    ({ name }, { principal }) =>
      show(parts, principal.tenantId, name),
});

/** Puts a circuit into a state by hand. */
export const setCircuit = operation({
  name: 'circuits.set',
  summary: 'Hold a circuit open, disable it, or close it and begin anew',
  method: 'POST',
  path: '/v1/circuits/{name}/state',
  status: 200,
  access: 'operator',
  input: CircuitSetRequest,
  output: Circuit,
  run:
    (parts: Parts) =>
    async ({ name, state, reason }, { principal: { tenantId, agentDid }, caller }) => {
      const by = { by: agentDid, door: caller.door, ...(reason === undefined ? {} : { note: reason }) };
      const isKnown = await parts.circuits?.set(tenantId, name, state, by);
      return isKnown === true ? show(parts, tenantId, name) : unknown(name);
    },
});

async function show({ circuits }: Parts, tenantId: string, name: string): Promise<Circuit | Failure> {
  const found = await circuits?.store.find(tenantId, name);
  return found === undefined ? unknown(name) : shown(found);
}

const unknown = (name: string): Failure =>
  failure('E3809', `There is no circuit ${name}. Each begins with the first call that goes through it.`);

function shown({ name, state, since, lastFailureAt, counts, waitMs, trials, terms }: KnownCircuit): Circuit {
  const { calls, failures, slowCalls } = counts;
  return {
    name,
    state,
    since: isoTime(since),
    call_count: calls,
    failure_count: failures,
    slow_call_count: slowCalls,
    failure_rate: percentOf(failures, calls),
    slow_call_rate: percentOf(slowCalls, calls),
    ...(lastFailureAt === undefined ? {} : { last_failure_at: isoTime(lastFailureAt) }),
    ...(waitMs === undefined ? {} : { retry_after_ms: Math.ceil(waitMs) }),
    ...(trials === undefined ? {} : { trials: trialsShown(trials) }),
    config: {
      failure_rate_threshold: terms.failureRateThreshold,
      slow_call_rate_threshold: terms.slowCallRateThreshold,
      slow_call_duration_threshold_ms: terms.slowCallMs,
      consecutive_failures_threshold: terms.failuresInRow,
      sliding_window_type: terms.windowType,
      sliding_window_size: terms.windowSize,
      minimum_number_of_calls: terms.callsMin,
      wait_duration_in_open_state_seconds: terms.waitMs / 1000,
      permitted_number_of_calls_in_half_open_state: terms.trialCalls,
      half_open_strategy: terms.halfOpenStrategy,
    },
  };
}

const trialsShown = ({
  share,
  calls,
  ended,
  underWay,
  succeeded,
}: NonNullable<KnownCircuit['trials']>): NonNullable<Circuit['trials']> => ({
  share,
  permitted: calls,
  completed: ended,
  under_way: underWay,
  succeeded,
});
