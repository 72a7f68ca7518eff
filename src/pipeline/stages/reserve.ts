// Hot path: without a quota, a rate limit and a circuit, one slot is counted.
import { failure, isFailure } from '../../domain/error/failure.ts';
import type { WaitFor } from '../../domain/invocation/waiting-call.ts';
import type { Approved, Authorized, CallRequest, Reserved, Resolved } from '../call.ts';
import type { Flight } from '../flight/flight.ts';
import { agentKey } from '../flight/running-calls.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage, StageEnd } from '../stage.ts';
import { RESERVED, type Taken, takeRate } from './attempts/take-rate.ts';
import { cannotWait } from './grant/own-token.ts';

type Parts = Pick<PipelineParts, 'running' | 'rateLimiter' | 'circuits' | 'limits' | 'quota' | 'secrets'>;

/** Wait that is advised when an agent's slots are taken. */
const SLOT_RETRY_MS = 100;

/**
 * Stage 7: one of the agent's slots, a permit of the circuit, a token of the rate limits of tool and service, one call of
 * the session's quota (E3106, E3401, E3303, E3211). A call that the circuit refuses eats up no rate that others share. The
 * quota comes last, so that only a call that really runs is counted: a replay was answered by `reuse`, and a refusal came
 * before (PRM-07).
 */
export function reserve(parts: Parts): Stage<CallRequest & Resolved & Authorized & Approved, Reserved> {
  const { running, limits, quota } = parts;
  return {
    name: 'reserve',
    takes: 'a slot of the agent, a permit of the circuit, a token of the rate limit, a call of the quota',
    run(call, flight) {
      const { principal, claims, request } = call;
      // Nothing is taken for a call that a worker runs later: it takes what it needs then.
      const isLater = request.execution_options?.async_mode === true && flight.resumed === undefined;
      if (isLater) return cannotWait(parts, call, 'for a worker') ?? { waits: forWorker(call) };
      // What takes a call back is a part of that call, which holds its slot still: only the way to the tool counts.
      if (call.onBehalfOf !== undefined) return takeWay(parts, call, flight);
      // A session that has nothing left must not eat up what other agents share.
      const spent = quota?.knownSpent(principal, claims);
      if (spent !== undefined) return spent;
      const agent = agentKey(principal);
      // A worker waits until a slot is free, and holds it already.
      const isHeld = flight.resumed?.hold !== undefined;
      if (!isHeld && !running.takeSlot(agent, limits.callsPerAgentMax)) {
        return failure(
          'E3106',
          `The agent runs ${limits.callsPerAgentMax} calls already. Wait until one of them has ended.`,
          { retryAfterMs: SLOT_RETRY_MS },
        );
      }
      if (!isHeld) flight.undo.defer(() => running.freeSlot(agent));
      const rated = takeWay(parts, call, flight);
      if (quota === undefined) return rated;
      const counted = (end: StageEnd<Reserved>): Taken => (isFailure(end) ? end : takeQuota(quota, call));
      return rated instanceof Promise ? rated.then(counted) : counted(rated);
    },
  };
}

const forWorker = ({ confirmed, question }: Approved): WaitFor => ({
  for: 'worker',
  confirmed,
  ...(question === undefined ? {} : { question }),
});

/** What every attempt takes: a permit of the circuit, then tokens of the rates. */
function takeWay(parts: Parts, call: Resolved & Authorized, flight: Flight): Taken {
  const permit = parts.circuits?.take(call, flight);
  if (permit instanceof Promise) return permit.then((refused) => refused ?? takeRate(parts, call));
  return permit ?? takeRate(parts, call);
}

function takeQuota(quota: NonNullable<Parts['quota']>, { principal, claims }: Resolved): Taken {
  const refused = quota.take(principal, claims);
  return refused instanceof Promise ? refused.then((late) => late ?? RESERVED) : (refused ?? RESERVED);
}
