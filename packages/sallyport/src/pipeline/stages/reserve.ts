// Hot path: without a quota, a rate limit and a circuit, one slot is counted.
import { isFailure } from '@sallyport/std/error/failure';
import type { WaitFor } from '../../domain/invocation/waiting-call.ts';
import type { Approved, Authorized, CallRequest, Reserved, Resolved } from '../call.ts';
import type { AgentSlot } from '../ongoing/agent-slots.ts';
import type { OngoingCall } from '../ongoing/ongoing-call.ts';
import { agentKey } from '../ongoing/running-calls.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage, StageEnd } from '../stage.ts';
import { RESERVED, takeRate } from './attempts/take-rate.ts';
import { cannotWait } from './grant/own-token.ts';

type Parts = Pick<PipelineParts, 'clock' | 'running' | 'rateLimiter' | 'circuits' | 'limits' | 'quota' | 'secrets'>;

/**
 * One of the agent's slots, a permit of the circuit, a token of the rate limits of tool and service, one call of
 * the session's quota (E3106, E3401, E3303, E3211). Where no slot is free the call waits for one, as long as its timeout. A
 * call that the circuit refuses eats up no rate that others share. The quota comes last, so that only a call that really runs
 * is counted: a replay was answered by `reuse`, and a refusal came before (PRM-07).
 */
export function reserve(parts: Parts): Stage<CallRequest & Resolved & Authorized & Approved, Reserved> {
  const { running, limits, quota } = parts;
  return {
    name: 'reserve',
    takes: 'a slot of the agent, a permit of the circuit, a token of the rate limit, a call of the quota',
    async run(call, ongoing) {
      const { principal, claims, request } = call;
      // Nothing is taken for a call that a worker runs later: it takes what it needs then.
      const isLater = request.execution_options?.async_mode === true && ongoing.resumed === undefined;
      if (isLater) return cannotWait(parts, call, 'for a worker') ?? { waits: forWorker(call) };
      // What takes a call back is a part of that call, which holds its slot still: only the way to the tool counts.
      if (call.onBehalfOf !== undefined) return takeWay(parts, call, ongoing);
      // A session that has nothing left must not eat up what other agents share.
      const spent = quota?.knownSpent(principal, claims);
      if (spent !== undefined) return spent;
      // A worker waits until a slot is free, and holds it already.
      ongoing.slot = ongoing.resumed?.hold?.slot;
      if (ongoing.slot === undefined) {
        const slot = running.slots.take(agentKey(principal), limits.callsPerAgentMax);
        if (slot === undefined) await waitForSlot(parts, call, ongoing);
        else hold(slot, ongoing);
      }
      const way = await takeWay(parts, call, ongoing);
      return isFailure(way) ? way : ((await quota?.take(principal, claims)) ?? RESERVED);
    },
  };
}

function hold(slot: AgentSlot, ongoing: OngoingCall): void {
  ongoing.slot = slot;
  ongoing.undo.defer(() => slot.free());
}

/** The time of the tool begins when it runs: a call whose turn comes late is not begun with a moment left. */
async function waitForSlot(
  { clock, running, limits }: Parts,
  { principal, grant }: Resolved & Authorized,
  ongoing: OngoingCall,
): Promise<void> {
  const since = clock.monotonic();
  try {
    const slot = await running.slots.wait(agentKey(principal), limits.callsPerAgentMax, {
      waitingMax: limits.callsWaitingPerAgentMax,
      allWaitingMax: limits.callsMax,
      ms: grant.limits.timeoutMs,
      signal: ongoing.controller.signal,
    });
    hold(slot, ongoing);
    // The call may have ended in the moment in which it got the slot.
    ongoing.controller.signal.throwIfAborted();
  } finally {
    ongoing.slotWaitMs = clock.monotonic() - since;
  }
}

const forWorker = ({ confirmed, question }: Approved): WaitFor => ({
  for: 'worker',
  confirmed,
  ...(question === undefined ? {} : { question }),
});

/** What every attempt takes: a permit of the circuit, then tokens of the rates. */
async function takeWay(parts: Parts, call: Resolved & Authorized, ongoing: OngoingCall): Promise<StageEnd<Reserved>> {
  return (await parts.circuits?.take(call, ongoing)) ?? takeRate(parts, call);
}
