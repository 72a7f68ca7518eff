import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** The answer to an exchange; by default a token made from the caller's token and the audience. */
export interface StandInAnswer {
  readonly status?: number;
  readonly body?: string;
  /** How many ms the server waits before it answers. */
  readonly delayMs?: number;
}

/** An exchange request that the server received. */
export interface SeenExchange {
  readonly form: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

/** Starts a stand-in for an authorization server with RFC 8693, on a free port of the loopback. */
export async function standInServer(answerTo: (seen: SeenExchange) => StandInAnswer = () => ({})) {
  const seen: SeenExchange[] = [];
  const server = createServer(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    const one: SeenExchange = { form, authorization: request.headers.authorization };
    seen.push(one);
    const { status = 200, body = tokenBody(form), delayMs = 0 } = answerTo(one);
    setTimeout(() => {
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(status === 302 ? { location: '/elsewhere' } : {}),
      });
      response.end(body);
    }, delayMs);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      await closed.promise;
    },
  };
}

/** An answer with a token that names the caller. */
export function tokenBody(
  { subject_token = '', audience = '' }: Readonly<Record<string, string>>,
  lifetime = 3600,
): string {
  const access_token = `for-${audience}-of-${subject_token}`;
  return JSON.stringify({
    access_token,
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: lifetime,
  });
}
