import { createServer, type RequestListener, type Server } from 'node:http';
import { LOGIN_MS } from '../login.ts';

/** Most logins whose redirects are waited for at once. */
const EXPECTED_MAX = 1_000;
/** Longest time for one request, ms. */
const PATIENCE_MS = 10_000;
const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', connection: 'close' };

/** Receives the redirects of logins at an address of this machine (RFC 8252 §7.3), while somebody waits for one. */
export interface RedirectReceiver extends AsyncDisposable {
  /**
   * Waits for the redirect with this state for as long as the link of a login is good; a second wait for the same one
   * changes nothing.
   * @param take ends the login with the whole address; the browser is shown whether that worked
   * @returns false when nothing is received, because the port is in use or too many wait
   */
  expect(state: string, take: (redirected: string) => Promise<void>): Promise<boolean>;
  /** Ends the wait: the login was ended in another way. */
  forget(state: string): void;
}

interface Expected {
  readonly take: (redirected: string) => Promise<void>;
  readonly timer: NodeJS.Timeout;
}

/**
 * Makes a receiver that listens only while it waits. Where the port is in use nothing is received: then a login is ended
 * in another way.
 * @param redirectUrl `http:` on the loopback
 */
export function createRedirectReceiver(redirectUrl: string): RedirectReceiver {
  const { hostname, port, pathname, origin } = new URL(redirectUrl);
  const expected = new Map<string, Expected>();
  /** Those that still have a connection too. */
  const servers = new Set<Server>();
  let server: Promise<Server | undefined> | undefined;
  const drop = (state: string): void => {
    clearTimeout(expected.get(state)?.timer);
    if (!expected.delete(state) || expected.size > 0) return;
    const idle = server;
    server = undefined;
    void idle?.then(ended);
  };
  const onRequest: RequestListener = (request, response) => {
    const url = new URL(request.url ?? '/', origin);
    const state = url.searchParams.get('state') ?? '';
    const found = request.method === 'GET' && url.pathname === pathname ? expected.get(state) : undefined;
    if (found === undefined) {
      response.writeHead(404, PLAIN).end();
      return;
    }
    found.take(url.href).then(
      () =>
        response
          .writeHead(200, PLAIN)
          .end('You are logged in. You can close this page and go back to where you were.\n'),
      (thrown: unknown) => response.writeHead(400, PLAIN).end(`The login failed. ${messageOf(thrown)}\n`),
    );
    drop(state);
  };
  return {
    async expect(state, take) {
      if (!expected.has(state) && expected.size >= EXPECTED_MAX) return false;
      if (!expected.has(state)) expected.set(state, { take, timer: setTimeout(() => drop(state), LOGIN_MS).unref() });
      server ??= listening(onRequest, Number(port) || 80, hostname.replace(/^\[|\]$/g, ''));
      const opened = await server;
      if (opened === undefined) {
        drop(state);
        return false;
      }
      if (!servers.has(opened)) servers.add(opened.once('close', () => servers.delete(opened)));
      return true;
    },
    forget: drop,
    async [Symbol.asyncDispose]() {
      const last = server;
      for (const state of expected.keys()) drop(state);
      const ends = ended(await last);
      // A browser that holds a connection open does not hold up the layer.
      for (const each of servers) each.closeAllConnections();
      await ends;
    },
  };
}

/** Undefined when the port is in use. */
async function listening(onRequest: RequestListener, port: number, host: string): Promise<Server | undefined> {
  const server = createServer({ headersTimeout: PATIENCE_MS, requestTimeout: PATIENCE_MS }, onRequest).unref();
  const { promise, resolve } = Promise.withResolvers<Server | undefined>();
  server.once('error', () => resolve(undefined));
  server.listen(port, host, () => resolve(server));
  return promise;
}

async function ended(server: Server | undefined): Promise<void> {
  if (server?.listening !== true) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeIdleConnections();
  await promise;
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : 'Begin again.');
