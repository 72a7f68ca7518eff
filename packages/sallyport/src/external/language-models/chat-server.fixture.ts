import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the stand-in received. */
export interface ChatRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly model?: string;
    readonly messages?: readonly { readonly role: string; readonly content: string }[];
  } & Record<string, unknown>;
}

/** Returns the text of the model, or handles the response itself, as a broken server might, and returns undefined. */
export type ChatReply = (request: ChatRequest, response: ServerResponse) => string | undefined;

/** A stand-in for the server of a language model. */
export interface ChatServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: ChatRequest[];
  reply: ChatReply;
}

/** Starts the server on a free port of the loopback; a text returned by `reply` is sent as a completion. */
export async function chatServer(reply: ChatReply = () => 'ALLOW'): Promise<ChatServer> {
  const requests: ChatRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const request = {
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: JSON.parse(Buffer.concat(parts).toString()),
    };
    requests.push(request);
    const content = standIn.reply(request, response);
    if (content !== undefined) sendCompletion(response, content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: ChatServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    reply,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return standIn;
}

/** Sends a completion in the format of OpenAI's API reference. */
export function sendCompletion(response: ServerResponse, content: unknown, finish_reason = 'stop'): void {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason }];
  const body = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices };
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
