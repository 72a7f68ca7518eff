import { createServer } from 'node:http';
import type { UpstreamLoginResponse } from '../../../../../api/schemas/identity/upstream-authorization.ts';

/** Waits at the redirect address of a login. */
export interface RedirectListener {
  /** The address that the browser was led to, with its query. */
  readonly redirected: Promise<string>;
  close(): Promise<void>;
}

const PAGE = 'You can close this page and go back to the terminal.\n';
const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', connection: 'close' };

/**
 * Listens at a redirect address on this machine (RFC 8252 §7.3). Requests without the state of the login are answered
 * with 404, and the wait continues.
 * @returns undefined when the address is elsewhere, or its port is in use
 */
export async function listenForRedirect({
  redirect_url,
  state,
}: Pick<UpstreamLoginResponse, 'redirect_url' | 'state'>): Promise<RedirectListener | undefined> {
  const { protocol, hostname, port, pathname, origin } = new URL(redirect_url);
  if (protocol !== 'http:') return undefined;
  const { promise: redirected, resolve } = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin);
    const isOurs = request.method === 'GET' && url.pathname === pathname && url.searchParams.get('state') === state;
    response.writeHead(isOurs ? 200 : 404, PLAIN).end(isOurs ? PAGE : '');
    if (isOurs) resolve(url.href);
  });
  const { promise: listening, resolve: settle } = Promise.withResolvers<boolean>();
  server.once('error', () => settle(false));
  server.listen(Number(port) || 80, hostname.replace(/^\[|\]$/g, ''), () => settle(true));
  if (!(await listening)) return undefined;
  return {
    redirected,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeIdleConnections();
      }),
  };
}
