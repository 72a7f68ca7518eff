import type { Socket } from 'node:net';
import type { NetworkPermission } from '@sallyport/std/permissions';
import { readProxyRequest } from './proxy/proxy-request.ts';
import { readHead } from './proxy/read-head.ts';
import type { FindRoute } from './rules/find-route.ts';
import type { EgressBounds } from './settings.ts';
import { dial, type Upstream } from './traffic/dial.ts';
import { hangUp } from './traffic/hang-up.ts';
import { relay } from './traffic/relay.ts';
import type { Traffic } from './traffic/traffic.ts';

/** What every connection of a sandbox shares. */
export interface CarryParts {
  readonly findRoute: FindRoute;
  readonly traffic: Traffic;
  readonly bounds: EgressBounds;
}

/** Carries one connection of a sandbox, paused as it came. Never rejects; the client may be gone at any moment. */
export async function carryTo(client: Socket, target: NetworkPermission, parts: CarryParts): Promise<void> {
  const upstream = await reach(client, target, parts);
  // A reset, since the connection was accepted before anybody knew where it leads.
  if ('why' in upstream) hangUp(client);
  else join(client, upstream, parts);
}

/** Carries one connection to the proxy: the client says where to. */
export async function carryProxied(client: Socket, parts: CarryParts): Promise<void> {
  const { traffic, bounds } = parts;
  const head = await readHead(client, bounds);
  if (head === 'gone') return void client.destroy();
  if (typeof head === 'string') return refuse(client, traffic, `the request to the proxy is ${head}`);
  const request = readProxyRequest(head.text);
  if (request === undefined) {
    return refuse(client, traffic, 'the proxy takes CONNECT host:port, or a request with an absolute http: URL');
  }
  const { host, port, forward, isTunnel } = request;
  const upstream = await reach(client, { host, port }, parts);
  if ('why' in upstream) return answer(client, upstream.status, upstream.why);
  if (isTunnel) client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  const first = Buffer.concat([Buffer.from(forward, 'latin1'), head.rest]);
  if (first.length > 0) upstream.socket.write(first);
  traffic.sent(first.length);
  join(client, upstream, parts);
}

interface Unreachable {
  readonly why: string;
  readonly status: string;
}

/** Finds the way, and connects. A client that leaves meanwhile ends the attempt. */
async function reach(
  client: Socket,
  target: NetworkPermission,
  { findRoute, traffic, bounds }: CarryParts,
): Promise<Upstream | Unreachable> {
  const { host, port } = target;
  const route = await findRoute(host, port);
  if ('why' in route) {
    traffic.refuse(route.why, target);
    return { why: route.why, status: '403 Forbidden' };
  }
  const left = new AbortController();
  const leave = (): void => left.abort();
  client.once('close', leave);
  if (client.destroyed) leave();
  try {
    return await dial(route.addresses, port, bounds.connectTimeoutMs, left.signal);
  } catch (error) {
    const why = `${host}:${port} could not be reached (${reasonOf(error)})`;
    if (!client.destroyed) traffic.refuse(why, target);
    return { why, status: '502 Bad Gateway' };
  } finally {
    client.off('close', leave);
  }
}

function join(client: Socket, upstream: Upstream, { traffic, bounds }: CarryParts): void {
  const { socket } = upstream;
  socket.on('error', ignoreBrokenConnection);
  if (client.destroyed || socket.destroyed) {
    socket.destroy();
    hangUp(client);
    return;
  }
  relay(client, upstream, {
    sent: traffic.sent,
    received: traffic.received,
    idleTimeoutMs: bounds.idleTimeoutMs,
  });
}

function refuse(client: Socket, traffic: Traffic, why: string): void {
  traffic.refuse(why);
  answer(client, '400 Bad Request', why);
}

function answer(client: Socket, status: string, why: string): void {
  const text = `${why}\n`;
  const fields = ['Content-Type: text/plain', `Content-Length: ${Buffer.byteLength(text)}`, 'Connection: close'];
  client.end([`HTTP/1.1 ${status}`, ...fields, '', text].join('\r\n'));
  // What the client still sends is read, so that it gets the answer and not a reset; the end closes the connection.
  client.resume();
  client.setTimeout(ANSWER_TIMEOUT_MS, () => client.destroy());
}

/** For a client that does not hang up after its answer. */
const ANSWER_TIMEOUT_MS = 1000;

const reasonOf = (error: unknown): string =>
  error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);

/** `close` follows. */
function ignoreBrokenConnection(): void {}
