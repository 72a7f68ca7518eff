import type { Peer } from '../../mcp-server.ts';
import { canBeAsked } from './client-asker.ts';

/** The clients that can be asked, found by the call that they wait for. */
export interface AskableClients {
  /** Makes the client of a request known for as long as the request's signal is in use. */
  ofRequest(peer: Peer): void;
  /**
   * Makes a client known as that of a call which its request did not start: one that was resumed after an approval, or
   * that runs on its own. Until disposed; a later client of the same call takes its place.
   */
  ofCall(tenantId: string, invocationId: string, peer: Peer): Disposable;
  /** The client of a call; undefined when nobody waits for it, or its client answers no questions. */
  peerOf(tenantId: string, invocationId: string): Peer | undefined;
}

/** @param signalOf the caller's signal of a running call */
export function createAskableClients(
  signalOf: (tenantId: string, invocationId: string) => AbortSignal | undefined,
): AskableClients {
  const bySignal = new WeakMap<AbortSignal, Peer>();
  const byCall = new Map<string, Peer>();
  return {
    ofRequest: (peer) => {
      if (peer.ask !== undefined && canBeAsked(peer)) bySignal.set(peer.signal, peer);
    },
    ofCall: (tenantId, invocationId, peer) => {
      const key = callKey(tenantId, invocationId);
      byCall.set(key, peer);
      return {
        [Symbol.dispose]: () => {
          if (byCall.get(key) === peer) byCall.delete(key);
        },
      };
    },
    peerOf: (tenantId, invocationId) => {
      const known = byCall.get(callKey(tenantId, invocationId));
      if (known !== undefined) return known;
      const signal = signalOf(tenantId, invocationId);
      return signal === undefined ? undefined : bySignal.get(signal);
    },
  };
}

/** Key of one call among the calls of all tenants. */
const callKey = (tenantId: string, invocationId: string): string => JSON.stringify([tenantId, invocationId]);
