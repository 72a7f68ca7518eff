import type { IncomingMessage } from 'node:http';
import type WebSocket from 'ws';
import type { ApiClient } from '../api/api-client.ts';
import { refusalOf, unreachable } from '../api/api-client.ts';
import { ApiFault } from '../api/api-fault.ts';
import { KUBERNETES_SIZES, type KubernetesBounds } from '../settings.ts';

/**
 * The client's side of a WebSocket (RFC 6455): binary messages only. Node's own cannot send headers or a client certificate.
 */
export interface WebSocketLine {
  /** Calls back when the bytes are sent, for back pressure. After the end nothing is sent. */
  send(message: Uint8Array, sent?: () => void): void;
  /** Stops reading; the other side then stops sending. */
  pause(): void;
  resume(): void;
  /** Ends the connection at once. */
  cut(): void;
}

export interface WebSocketEvents {
  message(bytes: Buffer): void;
  /** Called once; `why` is undefined when the other side closed cleanly. */
  end(why: string | undefined): void;
}

/** How long the other side may take to end the connection after the close handshake. The types of `ws` lack it. */
const CLOSING = { closeTimeout: 1_000 };
/** RFC 6455 §7.1.5: the connection ended without a close message. */
const NOT_IN_ORDER = 1006;

/**
 * The WebSocket package, loaded on first use.
 * @throws Error naming the package when it is not installed
 */
export async function loadWebSocket(load: () => Promise<typeof import('ws')> = () => import('ws')) {
  try {
    return (await load()).WebSocket;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new Error(
      'Sandboxes in Kubernetes need the npm package ws, which is not installed. Install it (npm install ws@8), or Sallyport without --omit=optional.',
      { cause },
    );
  }
}

/**
 * Opens a WebSocket to the API server.
 * @param protocol the only subprotocol that is accepted
 * @throws ApiFault
 */
export async function openWebSocket(
  client: ApiClient,
  { path, query, protocol }: { path: string; query: URLSearchParams; protocol: string },
  bounds: KubernetesBounds,
  events: WebSocketEvents,
): Promise<WebSocketLine> {
  const Socket = await loadWebSocket();
  return client.upgrade(path, query, (url, options) => {
    const { promise, resolve, reject } = Promise.withResolvers<WebSocketLine>();
    const socket = new Socket(url, protocol, {
      ...options,
      handshakeTimeout: bounds.requestTimeoutMs,
      ...CLOSING,
      maxPayload: KUBERNETES_SIZES.messageBytesMax,
      perMessageDeflate: false,
    });
    let answer: IncomingMessage | undefined;
    socket.once('upgrade', (upgraded) => {
      answer = upgraded;
    });
    socket.once('open', () => resolve(lineOver(socket, answer, bounds, events)));
    socket.once('unexpected-response', (request, refused) => {
      void refusalOf(refused)
        .then(reject)
        .finally(() => request.destroy());
    });
    socket.on('error', (cause) => {
      if (answer === undefined) reject(unreachable(cause));
      const why = `it does not speak ${protocol}; Kubernetes 1.30 or newer is needed.`;
      reject(new ApiFault(why, { status: 501, cause }));
    });
    return promise;
  });
}

function lineOver(
  socket: WebSocket,
  answer: IncomingMessage | undefined,
  bounds: KubernetesBounds,
  events: WebSocketEvents,
): WebSocketLine {
  let over = false;
  let paused = false;
  let receivedAt = performance.now();
  const finish = (why: string | undefined): void => {
    if (over) return;
    over = true;
    clearInterval(pulse);
    socket.terminate();
    events.end(why);
  };
  // A client that stopped reading receives nothing, so silence then means nothing.
  const pulse = setInterval(() => {
    if (!paused && performance.now() - receivedAt > bounds.silenceMaxMs) finish('the connection fell silent');
    else socket.ping();
  }, bounds.pingEveryMs);
  pulse.unref();
  // Every byte is a sign of life, also in the middle of a message.
  answer?.socket.on('data', () => {
    receivedAt = performance.now();
  });
  socket.on('message', (bytes) => {
    if (!over) events.message(bytes as Buffer);
  });
  socket.on('error', (error) => finish(error.message));
  socket.on('close', (code) => finish(code === NOT_IN_ORDER ? 'the connection was dropped' : undefined));
  return {
    send(message, sent) {
      if (over) sent?.();
      else socket.send(message, () => sent?.());
    },
    pause() {
      paused = true;
      socket.pause();
    },
    resume() {
      paused = false;
      receivedAt = performance.now();
      socket.resume();
    },
    cut: () => finish('the connection was cut'),
  };
}
