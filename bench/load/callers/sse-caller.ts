import { get, type IncomingMessage } from 'node:http';
import { type HttpConnection, openConnection, postHead, postRequest } from '../http-connection.ts';
import { CALL_NUMBER, type Target } from '../target.ts';
import { type Caller, checkAnswer } from './caller.ts';
import { callMessage, INITIALIZE, INITIALIZED } from './mcp-messages.ts';

type Waiting = Map<number, PromiseWithResolvers<string>>;

/** Each call is a POST whose answer comes through a stream that stays open: MCP's HTTP+SSE of 2024-11-05. */
export async function sseCaller({ port, path, headers, request, expected }: Target): Promise<Caller> {
  const waiting: Waiting = new Map();
  const { stream, endpoint } = await openStream(port, path, waiting);
  const head = postHead(endpoint, port, headers);
  let connection = await openConnection(port);
  const ask = (number: number, message: string) => askThrough(connection, waiting, number, postRequest(head, message));
  await ask(0, INITIALIZE);
  await connection.exchange(postRequest(head, INITIALIZED));
  return {
    async renew() {
      connection.close();
      connection = await openConnection(port);
    },
    async call(number) {
      const answer = await ask(number, callMessage(number, request));
      checkAnswer(answer, expected.replaceAll(CALL_NUMBER, String(number)));
    },
    close() {
      connection.close();
      stream.destroy();
    },
  };
}

async function askThrough(connection: HttpConnection, waiting: Waiting, id: number, request: string): Promise<string> {
  const answer = Promise.withResolvers<string>();
  waiting.set(id, answer);
  const timer = setTimeout(() => answer.reject(new Error(`no answer for ${ANSWER_MS_MAX} ms`)), ANSWER_MS_MAX);
  try {
    // The stream may be faster than the 202 of the request; the connection is free only after both.
    const [text] = await Promise.all([answer.promise, connection.exchange(request)]);
    return text;
  } finally {
    clearTimeout(timer);
    waiting.delete(id);
  }
}

const ANSWER_MS_MAX = 10_000;

/** Opens the stream and waits for its first event, which names the path for the requests. */
async function openStream(
  port: number,
  path: string,
  waiting: Waiting,
): Promise<{ readonly stream: IncomingMessage; readonly endpoint: string }> {
  const opened = Promise.withResolvers<IncomingMessage>();
  const endpoint = Promise.withResolvers<string>();
  const headers = { accept: 'text/event-stream' };
  get({ host: '127.0.0.1', port, path, headers, agent: false }, opened.resolve).on('error', opened.reject);
  const stream = await opened.promise;
  let text = '';
  stream.setEncoding('latin1');
  stream.on('error', endpoint.reject);
  stream.on('data', (chunk: string) => {
    text += chunk;
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) takeEvent(event, endpoint.resolve, waiting);
  });
  return { stream, endpoint: await endpoint.promise };
}

function takeEvent(event: string, takeEndpoint: (path: string) => void, waiting: Waiting): void {
  const content = /^data: ?(.*)$/m.exec(event)?.[1] ?? '';
  if (event.includes('event: endpoint')) {
    takeEndpoint(content);
    return;
  }
  const { id } = JSON.parse(content) as { readonly id?: number };
  if (id !== undefined) waiting.get(id)?.resolve(content);
}
