import { type HttpConnection, openConnection, postHead, postRequest } from '../http-connection.ts';
import { headerOf } from '../response-reader.ts';
import { CALL_NUMBER, type Target } from '../target.ts';
import { type Caller, checkAnswer } from './caller.ts';
import { callMessage, INITIALIZE, INITIALIZED, PROTOCOL_VERSION } from './mcp-messages.ts';

/** Each call is a tools/call in one session of MCP over streamable HTTP, as today's clients open it. */
export async function mcpCaller({ port, path, headers, request, expected }: Target): Promise<Caller> {
  let connection = await openConnection(port);
  const head = postHead(path, port, await openSession(connection, { port, path, headers }));
  return {
    async renew() {
      connection.close();
      connection = await openConnection(port);
    },
    async call(number) {
      const answer = await connection.exchange(postRequest(head, callMessage(number, request)));
      checkAnswer(answer.body, expected.replaceAll(CALL_NUMBER, String(number)));
    },
    close: () => connection.close(),
  };
}

/** Opens a session. @returns the headers that the rest of the session carries */
export async function openSession(
  connection: HttpConnection,
  { port, path, headers }: Pick<Target, 'port' | 'path' | 'headers'>,
): Promise<Record<string, string>> {
  const accepting = { ...headers, accept: 'application/json, text/event-stream' };
  const answer = await connection.exchange(postRequest(postHead(path, port, accepting), INITIALIZE));
  if (answer.status !== 200)
    throw new Error(`initialize was answered with ${answer.status}: ${answer.body.slice(0, 300)}`);
  const session = headerOf(answer.head, 'mcp-session-id');
  const kept = {
    ...accepting,
    'mcp-protocol-version': PROTOCOL_VERSION,
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  };
  await connection.exchange(postRequest(postHead(path, port, kept), INITIALIZED));
  return kept;
}
