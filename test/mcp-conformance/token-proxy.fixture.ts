import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy on the loopback that adds a token to each request. */
export interface TokenProxy extends AsyncDisposable {
  readonly url: string;
}

/** Opens a proxy for a program that sends no token. Everything else, `Host` and `Origin` too, stays as it came. */
export async function openTokenProxy(target: string, token: string): Promise<TokenProxy> {
  const server = createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const onward = send(target + (request.url ?? ''), { method: request.method, headers }, (answer) => {
      // A stream's head says that it is open; nothing may wait for its first event.
      response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
