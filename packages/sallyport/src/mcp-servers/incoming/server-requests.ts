import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Askers } from './asker.ts';
import type { Questions } from './questions.ts';

const METHOD_NOT_FOUND = -32601;

/**
 * Requests of a server (protocol 2025-11-25 or older) to us. Each gets exactly one answer, or none once it is
 * withdrawn.
 */
export interface ServerRequests {
  /** @param sentOn our request on whose own stream it came, when there are such streams */
  answer(id: string | number, method: string, params: unknown, sentOn?: number): void;
  /** The server withdraws one of its requests. */
  cancelled(params: unknown): void;
  /** Answers are no longer needed: the calls of the questions have ended, or the connection has. */
  abandon(): void;
}

/** Dependencies of the answers. */
export interface ServerRequestParts {
  readonly questions: Questions;
  /** The calls that the server may ask for: that of one request of ours, or all. */
  askers(request?: number): Askers;
  /** Called for a question that does not name its call, with the calls that it may belong to. */
  onAsks(askers: Askers): void;
  send(message: JSONRPCMessage): void;
  /** Called when a person starts or stops being asked. */
  onWaiting(isWaiting: boolean): void;
}

/**
 * Answers a server's requests: a ping at once, an elicitation with a person's answer, everything else (sampling, roots)
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
