import type { CallKey } from '../../domain/invocation/call-key.ts';
import type { AgentSlot } from '../../pipeline/run.ts';

/** Calls that wait in this instance until their agent has a slot, in order of arrival. */
export interface PostponedCalls {
  /** Number of calls of an agent. */
  count(agent: string): number;
  /** @returns false when the call is there already, or there is no room: its row says that it waits */
  add(agent: string, call: CallKey, isUrgent: boolean): boolean;
  /** The first call of an agent that has a slot, with that slot, which is taken for it. */
  take(slotOf: (agent: string) => AgentSlot | undefined): WithSlot | undefined;
  /** The first urgent call of an agent, if the agent has a slot. */
  takeUrgent(agent: string, slotOf: () => AgentSlot | undefined): WithSlot | undefined;
}

interface WithSlot {
  readonly call: CallKey;
  readonly slot: AgentSlot;
}

/** @param max most calls, of all agents together */
export function createPostponedCalls(max: number): PostponedCalls {
  const byAgent = new Map<string, (CallKey & { readonly isUrgent: boolean })[]>();
  let size = 0;
  return {
    count: (agent) => byAgent.get(agent)?.length ?? 0,
    add(agent, { tenantId, invocationId }, isUrgent) {
      const own = byAgent.get(agent) ?? [];
      if (size >= max || own.some((call) => call.invocationId === invocationId)) return false;
      byAgent.set(agent, own);
      own.push({ tenantId, invocationId, isUrgent });
      size += 1;
      return true;
    },
    take(slotOf) {
      for (const [agent, own] of byAgent) {
        const [call] = own;
        const slot = call === undefined ? undefined : slotOf(agent);
        if (call === undefined || slot === undefined) continue;
        own.shift();
        byAgent.delete(agent);
        // After the other agents, so that each gets its turn.
        if (own.length > 0) byAgent.set(agent, own);
        size -= 1;
        return { call, slot };
      }
      return undefined;
    },
    takeUrgent(agent, slotOf) {
      const own = byAgent.get(agent) ?? [];
      const call = own.find(({ isUrgent }) => isUrgent);
      const slot = call === undefined ? undefined : slotOf();
      if (call === undefined || slot === undefined) return undefined;
      own.splice(own.indexOf(call), 1);
      if (own.length === 0) byAgent.delete(agent);
      size -= 1;
      return { call, slot };
    },
  };
}
