import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { type ClientAnswer, kindOfMethod, type QuestionKind } from '../../domain/questions/client-question.ts';
import type { Askers } from './asker.ts';
import type { IncomingQuestion, Questions } from './questions.ts';

const METHOD_NOT_FOUND = -32601;
/** Answered when the client refused a question, or could not be asked (MCP 2025-11-25, sampling, error handling). */
const REFUSED_BY_USER = -1;

/**
 * Requests of a server (protocol 2025-11-25 or older) to us. Each gets exactly one answer, or none once it is
 * withdrawn.
 */
export interface ServerRequests {
  /** @param sentOn our request on whose own stream it came, when there are such streams */
  answer(id: string | number, method: string, params: unknown, sentOn?: number): void;
  /** The server withdraws one of its requests. */
  cancelled(params: unknown): void;
  /** A person is done at an address that the server had opened. */
  completed(params: unknown): void;
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
  /** Called when a client starts or stops being asked. */
  onWaiting(isWaiting: boolean): void;
}

/**
 * Answers a server's requests: a ping at once, a question with the client's answer, everything else with "method not
 * found", also the kinds of questions that the operator does not allow.
 */
export function createServerRequests(parts: ServerRequestParts): ServerRequests {
  const open = new Map<string | number, AbortController>();
  const reply = (id: string | number, end: { result: object } | { error: object }): void =>
    parts.send({ jsonrpc: '2.0', id, ...end } as JSONRPCMessage);
  const ask = async (id: string | number, question: IncomingQuestion, askers: Askers): Promise<void> => {
    const asking = new AbortController();
    open.set(id, asking);
    parts.onWaiting(true);
    const answer = await parts.questions.ask(question, askers, asking.signal);
    if (open.get(id) === asking) open.delete(id);
    if (open.size === 0) parts.onWaiting(false);
    if (!asking.signal.aborted) reply(id, endOf(question.kind, answer));
  };
  return {
    answer(id, method, params, sentOn) {
      const kind = kindOfMethod(method);
      if (method === 'ping') reply(id, { result: {} });
      else if (kind === undefined || isUnknown(kind, parts.questions)) {
        reply(id, { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } });
      } else if (open.has(id)) reply(id, endOf(kind, { ended: 'a question of this id waits already' }));
      else {
        const askers = parts.askers(sentOn);
        if (sentOn === undefined) parts.onAsks(askers);
        void ask(id, { kind, params }, askers);
      }
    },
    cancelled(params) {
      const id = typeof params === 'object' && params !== null && 'requestId' in params ? params.requestId : undefined;
      if (typeof id === 'string' || typeof id === 'number') open.get(id)?.abort(new Error('The server took it back.'));
    },
    completed: (params) => parts.questions.completed(params),
    abandon() {
      for (const asking of open.values()) asking.abort(new Error('Nobody waits for the answer.'));
    },
  };
}

/** An elicitation has an answer of its own for "nobody was asked", so it is never unknown. */
function isUnknown(kind: QuestionKind, questions: Questions): boolean {
  return kind !== 'elicitation' && !questions.allows(kind);
}

/** What the server gets: a question of a person that nobody saw is answered with `cancel`, never with `decline`. */
function endOf(kind: QuestionKind, answer: ClientAnswer): { result: object } | { error: object } {
  if ('result' in answer) return { result: answer.result };
  if (kind === 'elicitation') return { result: { action: 'cancel' } };
  const why = 'unasked' in answer ? answer.unasked : answer.ended;
  return { error: { code: REFUSED_BY_USER, message: `The client did not answer: ${why}.` } };
}
