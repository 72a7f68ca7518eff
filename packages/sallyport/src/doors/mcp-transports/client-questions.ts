import { randomUUID } from 'node:crypto';
import { isObject } from '../../domain/shape/is-object.ts';
import { notificationText, type Params, type RpcId, type RpcResponse, requestText } from '../json-rpc.ts';

/** Most open questions to one client. */
const OPEN_MAX = 16;
/** Most characters taken from a client's error message. */
const SAID_CHARACTERS_MAX = 200;

/** Sends a question to the client; false when it could not be sent. */
export type SendText = (text: string) => boolean;

/** Requests to one client of the 2025 era, each with an unguessable id: an answer matches its own question or none. */
export interface ClientQuestions {
  /** Number of open questions. */
  readonly open: number;
  /**
   * Asks; withdraws the question when `signal` aborts first.
   * @throws Error when the client refuses, cannot be reached, has too many open questions, or the wait ends
   */
  ask(method: string, params: Params, send: SendText, signal: AbortSignal): Promise<unknown>;
  /** Takes a client's answer; duplicate, late and invented answers change nothing. */
  take(answer: RpcResponse): void;
  /** Ends every wait. */
  close(): void;
}

interface Open {
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: Error) => void;
}

/** Makes the questions of one client, none open. @param onAsked called for each question that begins to wait */
export function createClientQuestions(onAsked: () => void = () => {}): ClientQuestions {
  const open = new Map<RpcId, Open>();
  let closed = false;

  const ask: ClientQuestions['ask'] = async (method, params, send, signal) => {
    if (closed || signal.aborted) throw new Error('The client is gone.');
    if (open.size >= OPEN_MAX) throw new Error(`The client has ${OPEN_MAX} questions to answer already.`);
    const id = `ask-${randomUUID()}`;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const end = (): void => {
      send(notificationText('notifications/cancelled', { requestId: id, reason: 'Nobody waits for the answer.' }));
      reject(new Error('The wait for the client is over.'));
    };
    open.set(id, { resolve, reject });
    signal.addEventListener('abort', end, { once: true });
    try {
      if (!send(requestText(id, method, params))) throw new Error('The client does not keep up.');
      onAsked();
      return await promise;
    } finally {
      open.delete(id);
      signal.removeEventListener('abort', end);
    }
  };

  return {
    get open() {
      return open.size;
    },
    ask,
    take: ({ id, result, error }) => {
      const waiting = open.get(id);
      if (waiting === undefined) return;
      open.delete(id);
      if (error === undefined) waiting.resolve(result);
      else waiting.reject(new Error(`The client answered with an error: ${saidIn(error)}`));
    },
    close: () => {
      closed = true;
      for (const { reject } of open.values()) reject(new Error('The client is gone.'));
      open.clear();
    },
  };
}

function saidIn(error: unknown): string {
  const { message } = isObject(error) ? error : {};
  return typeof message === 'string' ? message.slice(0, SAID_CHARACTERS_MAX) : 'without a message';
}
