import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { EgressGuard, EgressTarget } from '../egress-guard.ts';
import type { OutboundRequest } from './exchange.ts';
import type { ConnectionBounds } from './settings.ts';

/** Kept-alive connections, each to an address approved by the guard. */
export interface Connections extends Disposable {
  /**
   * Begins a request without sending its body.
   * @throws ToolLayerError E3803 when too many wait for a connection to the same host
   */
  begin(request: OutboundRequest, to: EgressTarget): ClientRequest;
}

/** Makes connections; disposing closes them. */
export function createConnections(guard: EgressGuard, bounds: ConnectionBounds): Connections {
  const pooling = {
    keepAlive: true,
    maxSockets: bounds.connectionsPerHostMax,
    maxTotalSockets: bounds.connectionsMax,
    maxFreeSockets: bounds.idleConnectionsPerHostMax,
    timeout: bounds.idleMs,
  };
  const plain = new HttpAgent(pooling);
  const secure = new HttpsAgent(pooling);
  /** Requests under way by host and port. */
  const open = new Map<string, number>();
  const openMax = bounds.connectionsPerHostMax + bounds.waitingPerHostMax;

  const take = ({ host, port }: EgressTarget): (() => void) => {
    const key = `${host}:${port}`;
    const count = open.get(key) ?? 0;
    if (count >= openMax) throw tooMany(key, openMax);
    open.set(key, count + 1);
    return () => {
      const left = (open.get(key) ?? 1) - 1;
      if (left === 0) open.delete(key);
      else open.set(key, left);
    };
  };
  return {
    begin({ url, method, headers, body }, to) {
      const release = take(to);
      const { host, port } = to;
      const options = {
        host,
        port,
        method,
        path: url.pathname + url.search,
        headers: body === undefined ? headers : { ...headers, 'content-length': body.length },
        maxHeaderSize: bounds.headerBytesMax,
        lookup: guardedLookup(guard, to),
      };
      try {
        const sent =
          url.protocol === 'https:'
            ? // An IP literal has no server name (RFC 6066 §3).
              httpsRequest({ ...options, agent: secure, servername: isIP(host) === 0 ? host : '' })
            : httpRequest({ ...options, agent: plain });
        return sent.once('close', release);
      } catch (thrown) {
        release();
        throw thrown;
      }
    },
    [Symbol.dispose]() {
      plain.destroy();
      secure.destroy();
    },
  };
}

/** The connection uses exactly these addresses: the name is not looked up again. */
function guardedLookup(guard: EgressGuard, to: EgressTarget): LookupFunction {
  return (_host, options, done) => {
    guard.resolve(to).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) done(null, [...addresses]);
        else done(null, first?.address ?? '', first?.family);
      },
      (thrown: Error) => done(thrown, '', 0),
    );
  };
}

const tooMany = (where: string, most: number): ToolLayerError =>
  new ToolLayerError('E3803', `${most} requests to ${where} are on their way already. Try again later.`);
