// Without a limit of calls, a rate limit and a circuit it only counts one slot.
import type { Failure } from '@sallyport/std/error/failure';
import type { Approved, Authorized, CallRequest, Reserved, Resolved } from '../call.ts';
import type { OngoingCall } from '../ongoing/ongoing-call.ts';
import { agentKey } from '../ongoing/running-calls.ts';
import type { PipelineParts } from '../parts.ts';
import { isRefused, type Refused, refusedBy, type Stage } from '../stage.ts';
import { forWorker } from './attempts/for-worker.ts';
import { takeRate } from './attempts/take-rate.ts';
import { cannotWait } from './grant/own-token.ts';

type Parts = Pick<PipelineParts, 'clock' | 'running' | 'rateLimiter' | 'circuits' | 'limits' | 'quota' | 'secrets'>;

/**
 * Takes one of the agent's slots, a permit of the circuit, a token of the rate limits of tool and service, and one call
 * of the session's quota (E3106, E3401, E3303, E3211). When no slot is free the call waits for one, up to its timeout.
 * A call that the circuit refuses uses up no rate that others share. The quota comes last, so that only a call that
 * really runs is counted: a replay was answered by `reuse`, and a refusal came before (PRM-07).
 */
export function reserve(parts: Parts): Stage<CallRequest & Resolved & Authorized & Approved, Reserved> {
  const { quota } = parts;
  return {
    name: 'reserve',
    takes: 'a slot of the agent, a permit of the circuit, a token of the rate limit, a call of the quota',
    async run(call, ongoing) {
      const { principal, claims, request } = call;
      // Takes nothing for a call that a worker runs later: the worker's pass takes what it needs.
      const isLater = request.execution_options?.async_mode === true && ongoing.resumed === undefined;
      if (isLater) return cannotWait(parts, call, 'for a worker') ?? { waits: forWorker(call) };
      // A compensating call runs inside the original call's slot; only circuit and rate limits apply to it.
      if (call.onBehalfOf !== undefined) return (await takeWay(parts, call, ongoing)) ?? NO_SLOT;
      // A call that ran before and was cut off was counted then.
      const isCounted = ongoing.resumed?.cutOff === true;
      // Checked first: a session without quota must not use up what other agents share.
      const spent = isCounted ? undefined : quota.knownSpent(principal, claims);
      if (spent !== undefined) return spent;
      const held = await slotFor(parts, call, ongoing);
      if (isRefused(held)) return held;
      try {
        const noWay = await takeWay(parts, call, ongoing);
        const refused = noWay ?? (isCounted ? undefined : await quota.take(principal, claims));
        return refused === undefined ? held : { refused, established: held };
      } catch (thrown) {
        return refusedBy(thrown, held);
      }
    },
  };
}

const NO_SLOT: Reserved = { slot: undefined, slotWaitMs: 0 };

/** The slot that the call's worker already holds, or one that is free now or later. */
async function slotFor(
  parts: Parts,
  call: Resolved & Authorized,
  ongoing: OngoingCall,
): Promise<Reserved | Refused<Reserved>> {
  const { running, limits } = parts;
  const slot = ongoing.resumed?.hold?.slot;
  if (slot !== undefined) return { slot, slotWaitMs: 0 };
  const free = running.slots.take(agentKey(call.principal), limits.callsPerAgentMax);
  if (free === undefined) return waitForSlot(parts, call, ongoing);
  ongoing.undo.defer(() => free.free());
  return { slot: free, slotWaitMs: 0 };
}

/**
 * Waiting takes from the call's whole time. The time of the tool begins when it runs: a call whose turn comes late is
 * not begun with only a moment left.
 */
async function waitForSlot(
  { clock, running, limits }: Parts,
  { principal, grant }: Resolved & Authorized,
  { controller: { signal }, undo }: OngoingCall,
): Promise<Reserved | Refused<Reserved>> {
  const since = clock.monotonic();
  const waitedMs = (): number => clock.monotonic() - since;
  try {
    const slot = await running.slots.wait(agentKey(principal), limits.callsPerAgentMax, {
      waitingMax: limits.callsWaitingPerAgentMax,
      allWaitingMax: limits.callsMax,
      ms: grant.limits.timeoutMs,
      signal,
    });
    undo.defer(() => slot.free());
    // The call may have ended just as it got the slot.
    signal.throwIfAborted();
    return { slot, slotWaitMs: waitedMs() };
  } catch (thrown) {
    return refusedBy(thrown, { slotWaitMs: waitedMs() });
  }
}

/** Takes what every attempt needs: a permit of the circuit, then tokens of the rates. */
async function takeWay(parts: Parts, call: Resolved & Authorized, ongoing: OngoingCall): Promise<Failure | undefined> {
  return (await parts.circuits?.take(call, ongoing)) ?? takeRate(parts, call);
}
