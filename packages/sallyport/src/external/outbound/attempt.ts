import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { codeOf } from '@sallyport/std/error-code';
import type { EgressTarget } from '../egress-guard.ts';
import type { Connections } from './connections.ts';
import type { OpenAnswer, OutboundRequest } from './exchange.ts';
import { networkFailure, type Reached } from './network-failures.ts';
import { phaseClock } from './phase-clock.ts';
import type { OutboundTimes } from './settings.ts';

/** A request with its options. */
export interface Flight {
  readonly connections: Connections;
  readonly request: OutboundRequest;
  readonly to: EgressTarget;
  readonly signal: AbortSignal;
  readonly times: OutboundTimes;
}

/** One try to send a request. */
interface Attempt {
  readonly sent: ClientRequest | undefined;
  readonly answer: Promise<OpenAnswer>;
  /** True once there was a connection for the request. */
  connected(): boolean;
}

/** Methods that may be resent when a kept-alive connection turns out to be closed (RFC 9110 §9.2.2). */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY']);

/** True when the service closed a kept-alive connection as we used it, without an answer. */
function isStale(thrown: unknown, { sent }: Attempt, { method }: OutboundRequest): boolean {
  const code = codeOf(thrown);
  return sent?.reusedSocket === true && REPEATABLE.has(method) && (code === 'ECONNRESET' || code === 'EPIPE');
}

const reachedBy = ({ connected }: Attempt): Reached => (connected() ? 'service' : 'nothing');

/**
 * Sends a request; resends it once when a kept-alive connection turned out to be closed.
 * @throws ToolLayerError as `OutboundHttp.open`
 */
export async function answerOf(flight: Flight): Promise<OpenAnswer> {
  const { to, request } = flight;
  const first = attemptOf(flight);
  try {
    return await first.answer;
  } catch (thrown) {
    if (!isStale(thrown, first, request)) throw networkFailure(thrown, to, reachedBy(first));
  }
  const second = attemptOf(flight);
  return await second.answer.catch((thrown: unknown) => {
    throw networkFailure(thrown, to, reachedBy(second));
  });
}

function attemptOf({ connections, request, to, signal, times }: Flight): Attempt {
  if (signal.aborted) return { sent: undefined, answer: Promise.reject(reasonOf(signal)), connected: () => false };
  const sent = connections.begin(request, to);
  const { promise, resolve, reject } = Promise.withResolvers<OpenAnswer>();
  const traffic = meterOf(sent);
  let message: IncomingMessage | undefined;
  let isConnected = false;
  const stop = (reason: Error): void => {
    reject(reason);
    if (message === undefined) sent.destroy();
    else message.destroy(reason);
  };
  const clock = phaseClock(times, to, stop);
  const onAbort = (): void => stop(reasonOf(signal));
  const onConnect = (): void => {
    isConnected = true;
    clock.enter('answer');
  };
  sent.once('socket', (socket) => whenConnected(sent, socket, request.url.protocol, onConnect));
  sent.once('response', (response) => {
    message = response;
    clock.enter('silence');
    const { statusCode: status = 0, headers } = response;
    resolve({ status, headers, message: clock.watch(response), traffic });
  });
  sent.once('upgrade', (_response, socket) => {
    socket.destroy();
    reject(new ToolLayerError('E3308', 'The service wants to change the protocol, which is not supported.'));
  });
  // Kept, since a request may report several errors.
  sent.on('error', reject);
  sent.once('close', () => {
    clock.end();
    signal.removeEventListener('abort', onAbort);
    reject(new Error('the connection was closed before an answer had come'));
  });
  signal.addEventListener('abort', onAbort, { once: true });
  sent.end(request.body);
  return { sent, answer: promise, connected: () => isConnected };
}

function whenConnected(sent: ClientRequest, socket: Socket, protocol: string, connected: () => void): void {
  if (sent.reusedSocket) connected();
  else socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', connected);
}

function meterOf(sent: ClientRequest): OpenAnswer['traffic'] {
  let used: Socket | undefined;
  let before = { sent: 0, received: 0 };
  sent.once('socket', (socket) => {
    used = socket;
    before = { sent: socket.bytesWritten ?? 0, received: socket.bytesRead ?? 0 };
  });
  return () => ({
    bytesSent: Math.max(0, (used?.bytesWritten ?? 0) - before.sent),
    bytesReceived: Math.max(0, (used?.bytesRead ?? 0) - before.received),
  });
}

/** The reason of an abort. The layer aborts with errors of its own; callers map other reasons. */
function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  if (reason instanceof ToolLayerError) return reason;
  if (reason instanceof DOMException && reason.name === 'TimeoutError') {
    return new ToolLayerError('E3103', 'The tool did not end in time and was stopped.', { cause: reason });
  }
  return new ToolLayerError('E3805', 'The call was cancelled.', { cause: reason });
}
