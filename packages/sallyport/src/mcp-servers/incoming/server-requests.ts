import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Askers } from './asker.ts';
import type { Questions } from './questions.ts';

const METHOD_NOT_FOUND = -32601;

/** Requests that a server of protocol 2025-11-25 or older sends to us. Each gets exactly one answer, or none once it is void. */
export interface ServerRequests {
  /** @param sentOn our request on whose own stream it came, where there are such streams */
  answer(id: string | number, method: string, params: unknown, sentOn?: number): void;
  /** The server takes one of its requests back. */
  cancelled(params: unknown): void;
  /** Nobody waits for answers any more: the calls that questions belong to have ended, or the connection has. */
  abandon(): void;
}

/** What requests are answered with. */
export interface ServerRequestParts {
  readonly questions: Questions;
  /** The calls for which the server may ask: that of one request of ours, or all. */
  askers(request?: number): Askers;
  /** Told of a question that does not say to which call it belongs, with the calls that it may belong to. */
  onAsks(askers: Askers): void;
  send(message: JSONRPCMessage): void;
  /** Told when a person is asked, and when not any more. */
  onWaiting(isWaiting: boolean): void;
}

/**
 * Answers what a server asks: a ping at once, an elicitation with what a person says, everything else (sampling, roots)
 * with "method not found". An elicitation while no call runs is cancelled, since it can belong to nobody.
 */
export function createServerRequests(parts: ServerRequestParts): ServerRequests {
  const open = new Map<string | number, AbortController>();
  const reply = (id: string | number, end: { result: object } | { error: object }): void =>
    parts.send({ jsonrpc: '2.0', id, ...end } as JSONRPCMessage);
  const elicit = async (id: string | number, params: unknown, askers: Askers): Promise<void> => {
    const asking = new AbortController();
    open.set(id, asking);
    parts.onWaiting(true);
    const answer = await parts.questions.ask(params, askers, asking.signal);
    if (open.get(id) === asking) open.delete(id);
    if (open.size === 0) parts.onWaiting(false);
    if (!asking.signal.aborted) reply(id, { result: answer });
  };
  return {
    answer(id, method, params, sentOn) {
      if (method === 'ping') reply(id, { result: {} });
      else if (method !== 'elicitation/create') {
        reply(id, { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } });
      } else if (open.has(id)) reply(id, { result: { action: 'cancel' } });
      else {
        const askers = parts.askers(sentOn);
        if (sentOn === undefined) parts.onAsks(askers);
        void elicit(id, params, askers);
      }
    },
    cancelled(params) {
      const id = typeof params === 'object' && params !== null && 'requestId' in params ? params.requestId : undefined;
      if (typeof id === 'string' || typeof id === 'number') open.get(id)?.abort(new Error('The server took it back.'));
    },
    abandon() {
      for (const asking of open.values()) asking.abort(new Error('Nobody waits for the answer.'));
    },
  };
}
