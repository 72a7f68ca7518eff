import { ownerKey } from '../../../src/domain/invocation/call-owner.ts';
import type { SessionToolStore, ToolSession } from '../../../src/visibility/session-tools.port.ts';

/** Tools that completed in sessions, in memory. */
export function memorySessionToolStore(): SessionToolStore {
  const sessions = new Map<string, Map<string, number>>();
  const keyOf = ({ owner, sessionId }: ToolSession): string => JSON.stringify([ownerKey(owner), sessionId]);
  return {
    async note(session, toolId, keptMs) {
      const tools = sessions.get(keyOf(session)) ?? new Map<string, number>();
      sessions.set(keyOf(session), tools.set(toolId, Date.now() + keptMs));
    },
    completed: async (session) => {
      const tools = [...(sessions.get(keyOf(session)) ?? [])];
      return new Set(tools.flatMap(([toolId, until]) => (until > Date.now() ? [toolId] : [])));
    },
  };
}
