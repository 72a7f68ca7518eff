import type { CallKey } from '../../domain/invocation/call-key.ts';
import type { AgentSlot } from '../../pipeline/run.ts';

/** Calls that wait in this instance until their agent has a slot, in order of arrival. */
export interface PostponedCalls {
  /** Number of calls of an agent. */
  count(agent: string): number;
  /** @returns false when the call is there already, or there is no room: its row says that it waits */
  add(agent: string, call: CallKey): boolean;
  /** The first call of an agent that has a slot, with that slot, which is taken for it. */
  take(
    slotOf: (agent: string) => AgentSlot | undefined,
  ): { readonly call: CallKey; readonly slot: AgentSlot } | undefined;
}

/** @param max most calls, of all agents together */
export function createPostponedCalls(max: number): PostponedCalls {
  const byAgent = new Map<string, CallKey[]>();
  let size = 0;
  return {
    count: (agent) => byAgent.get(agent)?.length ?? 0,
    add(agent, { tenantId, invocationId }) {
      const own = byAgent.get(agent) ?? [];
      if (size >= max || own.some((call) => call.invocationId === invocationId)) return false;
      byAgent.set(agent, own);
      own.push({ tenantId, invocationId });
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
  };
}
