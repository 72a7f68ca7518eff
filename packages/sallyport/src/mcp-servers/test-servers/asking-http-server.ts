// A small MCP server over streamable HTTP that asks its user things, each on the stream of the call. Only for tests.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>> & { readonly _meta?: { readonly progressToken?: unknown } };
  readonly result?: unknown;
}

/** One that listens on the loopback. */
export interface AskingHttpServer extends AsyncDisposable {
  readonly url: string;
}

const REPORT_EVERY_MS = 100;
const TOOLS = ['ask', 'hold', 'report'].map((name) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
}));

export async function startAskingHttpServer(): Promise<AskingHttpServer> {
  /** What is done with the answer to a question, by its id. */
  const asked = new Map<unknown, (answer: unknown) => void>();
  const server = createServer((request, response) => void serve(request, response, asked));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  asked: Map<unknown, (answer: unknown) => void>,
) {
  if (request.method !== 'POST') return response.writeHead(405).end();
  const message = JSON.parse(await text(request)) as Message;
  const { id, method } = message;
  if (method === undefined) {
    asked.get(id)?.(message.result);
    asked.delete(id);
  }
  if (id === undefined || method === undefined) return response.writeHead(202).end();
  if (method === 'tools/call') return call(message, response, asked);
  return response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, ...answerTo(message) }));
}

function answerTo({ method, params }: Message): object {
  if (method === 'tools/list') return { result: { tools: TOOLS } };
  if (method !== 'initialize') return { error: { code: -32601, message: 'Method not found' } };
  const serverInfo = { name: 'asking', version: '1.0.0' };
  return { result: { protocolVersion: params?.['protocolVersion'], capabilities: { tools: {} }, serverInfo } };
}

function call({ id, params }: Message, response: ServerResponse, asked: Map<unknown, (answer: unknown) => void>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (message: object): unknown =>
    response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  const answer = (said: unknown): void => {
    send({ id, result: { content: [{ type: 'text', text: JSON.stringify(said) }] } });
    response.end();
  };
  if (params?.['name'] === 'ask') {
    const question = randomUUID();
    asked.set(question, answer);
    send({ id: question, method: 'elicitation/create', params: params['arguments'] });
  }
  if (params?.['name'] !== 'report') return;
  let left = Number((params['arguments'] as { readonly times?: number }).times);
  const timer = setInterval(() => {
    left -= 1;
    const progressToken = params._meta?.progressToken;
    if (left > 0) return send({ method: 'notifications/progress', params: { progressToken, progress: -left } });
    clearInterval(timer);
    return answer('done');
  }, REPORT_EVERY_MS);
  response.on('close', () => clearInterval(timer));
}
