import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { type CarryParts, carryProxied, carryTo } from './carry.ts';
import type { FindRoute } from './rules/find-route.ts';
import type { InsideListener, InsideView } from './rules/inside-view.ts';
import type { EgressBounds } from './settings.ts';
import { hangUp } from './traffic/hang-up.ts';
import { createTraffic, type EgressUsage } from './traffic/traffic.ts';

/** The network of one sandbox. Open until closed, and then nothing of it is left. */
export interface EgressRun {
  /** What must exist inside. */
  readonly view: InsideView;
  /**
   * Serves a socket that listens inside the sandbox.
   * @param handle as a child process sends it
   */
  serve(listener: InsideListener, handle: object): void;
  /**
   * Listens on a unix socket that speaks the proxy protocol (`CONNECT host:port HTTP/1.1`), for sandboxes that the
   * layer cannot reach into. The file is removed with the run.
   * @throws the system's error when the path is taken
   */
  listenAt(path: string): Promise<void>;
  usage(): EgressUsage;
  /**
   * Ends every connection and listener. Idempotent, never rejects.
   * @param drainMs how long outgoing bytes may take; 0 for a killed sandbox
   */
  close(drainMs?: number): Promise<void>;
}

export interface EgressRunParts {
  readonly view: InsideView;
  readonly findRoute: FindRoute;
  readonly bounds: EgressBounds;
  readonly bandwidthMbps: number | undefined;
}

/** Clients are untrusted: half-open, slow, or thousands of connections are normal. */
const SERVER_OPTIONS = { allowHalfOpen: true, pauseOnConnect: true, noDelay: true } as const;

export function openEgressRun({ view, findRoute, bounds, bandwidthMbps }: EgressRunParts): EgressRun {
  const servers = new Set<Server>();
  const clients = new Set<Socket>();
  let closed: Promise<void> | undefined;
  const close = (drainMs: number): Promise<void> => {
    closed ??= closeAll(servers, clients, drainMs);
    return closed;
  };
  const traffic = createTraffic(bounds, bandwidthMbps, (why) => {
    traffic.refuse(why);
    void close(0);
  });
  const parts: CarryParts = { findRoute, traffic, bounds };

  const admit = (client: Socket): boolean => {
    client.on('error', ignoreBrokenConnection);
    traffic.opened();
    if (closed !== undefined || clients.size >= bounds.connectionsMax) {
      if (closed === undefined) traffic.refuse(`more than ${bounds.connectionsMax} connections are open at once`);
      hangUp(client);
      return false;
    }
    const late = setTimeout(() => client.destroy(), bounds.connectionTimeoutMs);
    clients.add(client);
    client.once('close', () => {
      clearTimeout(late);
      clients.delete(client);
    });
    return true;
  };
  const server = ({ target }: Pick<InsideListener, 'target'>): Server => {
    const made = createServer(SERVER_OPTIONS, (client) => {
      if (!admit(client)) return;
      void (target === undefined ? carryProxied(client, parts) : carryTo(client, target, parts));
    });
    // Too many open files: the client waits or gives up, the layer continues.
    made.on('error', ignoreBrokenConnection);
    servers.add(made);
    return made;
  };
  return {
    view,
    serve(listener, handle) {
      if (closed === undefined) server(listener).listen(handle);
    },
    async listenAt(path) {
      const listening = server({ target: undefined });
      listening.listen({ path, writableAll: true, readableAll: true });
      await once(listening, 'listening');
    },
    usage: traffic.usage,
    close: (drainMs = 0) => close(drainMs),
  };
}

async function closeAll(servers: ReadonlySet<Server>, clients: ReadonlySet<Socket>, drainMs: number): Promise<void> {
  const ended = [...servers].map((server) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    return promise;
  });
  if (drainMs > 0 && clients.size > 0) {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, drainMs);
    await Promise.race([late, Promise.all([...clients].map((client) => once(client, 'close').catch(() => {})))]);
    clearTimeout(timer);
  }
  for (const client of clients) client.destroy();
  await Promise.all(ended);
}

/** `close` follows. */
function ignoreBrokenConnection(): void {}
