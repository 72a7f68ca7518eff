import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { EgressGuard, EgressTarget } from '../../external/egress-guard.ts';
import { abortReason } from '../abort-reason.ts';
import type { BuiltRequest } from './request/plan.ts';
import type { HttpExecutorSettings } from './settings.ts';

/** What came back for one request. */
export interface Exchange {
  readonly status: number;
  /** Names in lower case; of a field that came several times the values are joined as RFC 9110 §5.3 says. */
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** The body was longer than allowed; the rest was not read. */
  readonly truncated: boolean;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** Most bytes of a body that are read, by the status of the answer. */
export type BodyBound = (status: number) => number;

/** Sends requests over kept connections. */
export interface Sender extends Disposable {
  /**
   * One request and its answer, whatever its status.
   * @throws ToolLayerError E3310 when the service cannot be reached or hangs up, E3308 when it does not speak HTTP, E3104
   *   for an address that is not public, the reason of the signal when it fires
   */
  exchange(request: BuiltRequest, to: EgressTarget, bound: BodyBound, signal: AbortSignal): Promise<Exchange>;
}

/** One request on its way. */
interface Attempt {
  readonly sent: ClientRequest;
  /** Whether there was a connection that the request could leave on. */
  connected: boolean;
  /** Counts what went over the connection for this request alone; a kept connection has counted before. */
  readonly meter: () => { bytesSent: number; bytesReceived: number };
}

/** Methods that may be sent again when a kept connection turns out to be closed (RFC 9110 §9.2.2). */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Makes a sender; disposing it closes its connections. */
export function createSender(guard: EgressGuard, settings: HttpExecutorSettings, ca?: string): Sender {
  const lookup: LookupFunction = (host, options, done) => {
    guard.resolve(host).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) done(null, [...addresses]);
        else done(null, first?.address ?? '', first?.family);
      },
      (thrown: Error) => done(thrown, '', 0),
    );
  };
  const pooling = {
    keepAlive: true,
    maxSockets: settings.connectionsPerHostMax,
    maxFreeSockets: settings.idleConnectionsPerHostMax,
    timeout: settings.idleMs,
    lookup,
  };
  const plain = new HttpAgent(pooling);
  const secure = new HttpsAgent({ ...pooling, ...(ca === undefined ? {} : { ca }) });

  const open = ({ url, method, headers, body }: BuiltRequest, { host, port }: EgressTarget): Attempt => {
    const options = {
      host,
      port,
      method,
      path: url.pathname + url.search,
      headers: body === undefined ? headers : { ...headers, 'content-length': body.length },
      maxHeaderSize: settings.headerBytesMax,
    };
    if (url.protocol !== 'https:') return attempt(httpRequest({ ...options, agent: plain }), 'connect');
    // An IP literal has no server name (RFC 6066 §3).
    const servername = isIP(host) === 0 ? host : '';
    return attempt(httpsRequest({ ...options, agent: secure, servername }), 'secureConnect');
  };

  return {
    async exchange(request, to, bound, signal) {
      const first = open(request, to);
      try {
        return await run(first, request, bound, signal);
      } catch (thrown) {
        if (!isStale(thrown, first, request)) throw unreachable(thrown, to, first);
      }
      const second = open(request, to);
      return await run(second, request, bound, signal).catch((thrown: unknown) => {
        throw unreachable(thrown, to, second);
      });
    },
    [Symbol.dispose]() {
      plain.destroy();
      secure.destroy();
    },
  };
}

/** The service closed a kept connection just as we used it, and gave no answer. */
function isStale(thrown: unknown, { sent }: Attempt, { method }: BuiltRequest): boolean {
  const code = (thrown as NodeJS.ErrnoException).code;
  return sent.reusedSocket && REPEATABLE.has(method) && (code === 'ECONNRESET' || code === 'EPIPE');
}

function run(
  { sent, meter }: Attempt,
  { body }: BuiltRequest,
  bound: BodyBound,
  signal: AbortSignal,
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(abortReason(signal));
      sent.destroy();
    };
    const finish = (settle: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    sent.once('response', (response) => {
      const status = response.statusCode ?? 0;
      collect(response, bound(status)).then(
        (collected) => finish(() => resolve({ status, headers: response.headers, ...collected, ...meter() })),
        (thrown: unknown) => finish(() => reject(thrown)),
      );
    });
    sent.once('upgrade', (_response, socket) => {
      socket.destroy();
      finish(() =>
        reject(new ToolLayerError('E3308', 'The service wants to change the protocol, which is not supported.')),
      );
    });
    // Stays, since a request may report more than one error.
    sent.on('error', (thrown) => finish(() => reject(thrown)));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) return onAbort();
    sent.end(body);
  });
}

function attempt(sent: ClientRequest, connectEvent: 'connect' | 'secureConnect'): Attempt {
  let used: Socket | undefined;
  let before = { sent: 0, received: 0 };
  const begun: Attempt = {
    sent,
    connected: false,
    meter: () => ({
      bytesSent: Math.max(0, (used?.bytesWritten ?? 0) - before.sent),
      bytesReceived: Math.max(0, (used?.bytesRead ?? 0) - before.received),
    }),
  };
  sent.once('socket', (socket) => {
    used = socket;
    before = { sent: socket.bytesWritten ?? 0, received: socket.bytesRead ?? 0 };
    if (sent.reusedSocket) begun.connected = true;
    else
      socket.once(connectEvent, () => {
        begun.connected = true;
      });
  });
  return begun;
}

function collect(response: IncomingMessage, bytesMax: number): Promise<{ body: Buffer; truncated: boolean }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= bytesMax) return;
      resolve({ body: Buffer.concat(chunks).subarray(0, bytesMax), truncated: true });
      response.destroy();
    });
    response.once('end', () => resolve({ body: Buffer.concat(chunks), truncated: false }));
    response.once('error', reject);
    response.once('close', () => {
      // Every answer ends with this event; an error costs a stack trace, so it is made only when it is one.
      if (!response.complete) reject(new Error('the connection was closed before the whole answer had come'));
    });
  });
}

/** What went wrong below HTTP, in words of the catalogue. */
function unreachable(thrown: unknown, { host, port }: EgressTarget, { connected }: Attempt): ToolLayerError {
  if (thrown instanceof ToolLayerError) return thrown;
  const [inner] = thrown instanceof AggregateError ? (thrown.errors as NodeJS.ErrnoException[]) : [];
  const code = (thrown as NodeJS.ErrnoException).code ?? inner?.code ?? '';
  if (code.startsWith('HPE_')) {
    return new ToolLayerError('E3308', `${host}:${port} sent something that is not HTTP (${code}).`, { cause: thrown });
  }
  // Whether the service may have seen the request decides whether it may be repeated.
  const details = { host, port, ...(code === '' ? {} : { reason: code }), request_sent: connected };
  const reason = code === '' ? 'it closed the connection' : code;
  return new ToolLayerError('E3310', `${host}:${port} cannot be reached: ${reason}.`, { details, cause: thrown });
}
