import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A server that speaks as OpenAI does, and says what the story has set. */
export interface ModelStandIn extends AsyncDisposable {
  readonly url: string;
  /** What it was asked, the last one last: all messages of a question in one text. */
  readonly asked: readonly string[];
  says: string;
}

/** Listens on a free port of this machine. */
export async function startModelStandIn(): Promise<ModelStandIn> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const { messages } = (await json(request)) as { messages: readonly { content: string }[] };
    asked.push(messages.map(({ content }) => content).join('\n'));
    const message = { role: 'assistant', content: standIn.says };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'one', object: 'chat.completion', created: 1, model: 'stand-in', choices }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: ModelStandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    says: 'ALLOW',
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return standIn;
}
