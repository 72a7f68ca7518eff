import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** The key that callers must bring; the layer takes it from its environment. */
export const SHELF_KEY = 'only the shelf knows';

/** The service that books.openapi.json describes. */
export async function startBooksApi(): Promise<{ url: string } & AsyncDisposable> {
  const titles = new Map([[1, 'The Sea']]);
  const server = createServer(async (request, response) => {
    const [status, body] = await answer(request, titles);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(request: IncomingMessage, titles: Map<number, string>): Promise<[number, unknown]> {
  if (request.headers['x-shelf-key'] !== SHELF_KEY) return [401, { message: 'no key' }];
  if (request.method === 'POST' && request.url === '/api/books') {
    const { title } = (await json(request)) as { title: string };
    const id = titles.size + 1;
    titles.set(id, title);
    return [201, { id, title }];
  }
  const id = Number(/^\/api\/books\/(?<id>\d+)$/.exec(request.url ?? '')?.groups?.['id']);
  const title = titles.get(id);
  return title === undefined ? [404, { message: 'no such book' }] : [200, { id, title, related: [] }];
}
