import { createHash, randomBytes } from 'node:crypto';
import type { ApiClient } from '../api/api-client.ts';
import { ApiFault } from '../api/api-fault.ts';
import { KUBERNETES_SIZES, type KubernetesBounds } from '../settings.ts';
import { createFrameReader, encodeFrame, type Frame, isControl, OPCODES } from './frames.ts';

/**
 * The client's side of a WebSocket (RFC 6455): binary messages only. Node's own cannot send headers or a client certificate.
 */
export interface WebSocketLine {
  /** Calls back when the bytes are on their way; that is the back pressure. After the end nothing is sent. */
  send(message: Uint8Array, sent?: () => void): void;
  /** Stops reading; the other side then stops sending. */
  pause(): void;
  resume(): void;
  /** Ends the connection at once. */
  cut(): void;
}

export interface WebSocketEvents {
  message(bytes: Buffer): void;
  /** Called once; `why` is undefined when the other side closed in order. */
  end(why: string | undefined): void;
}

/** RFC 6455 §1.3 */
const ACCEPT_KEY = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

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
  const key = randomBytes(16).toString('base64');
  const { socket, head, headers } = await client.upgrade(path, query, {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
    'sec-websocket-protocol': protocol,
  });
  const accepted = createHash('sha1').update(`${key}${ACCEPT_KEY}`).digest('base64');
  if (headers['sec-websocket-accept'] !== accepted || headers['sec-websocket-protocol'] !== protocol) {
    socket.destroy();
    throw new ApiFault(`it does not speak ${protocol}; Kubernetes 1.30 or newer is needed.`, { status: 501 });
  }
  return lineOver(socket, head, bounds, events);
}

type Socket = Awaited<ReturnType<ApiClient['upgrade']>>['socket'];

function lineOver(socket: Socket, head: Buffer, bounds: KubernetesBounds, events: WebSocketEvents): WebSocketLine {
  let over = false;
  let paused = false;
  let heardAt = performance.now();
  const finish = (why: string | undefined): void => {
    if (over) return;
    over = true;
    clearInterval(pulse);
    socket.destroy();
    events.end(why);
  };
  const send = (opcode: number, payload: Uint8Array, sent?: () => void): void => {
    if (over) sent?.();
    else socket.write(encodeFrame(opcode, payload, true), () => sent?.());
  };
  // Whoever has stopped reading hears nothing, so silence says nothing then.
  const pulse = setInterval(() => {
    if (!paused && performance.now() - heardAt > bounds.silenceMaxMs) finish('the connection fell silent');
    else send(OPCODES.ping, Buffer.alloc(0));
  }, bounds.pingEveryMs);
  pulse.unref();
  const messages = createMessageReader(send, events, finish);
  const take = (bytes: Buffer): void => {
    heardAt = performance.now();
    try {
      messages(bytes);
    } catch (error) {
      finish(error instanceof Error ? error.message : String(error));
    }
  };
  socket.on('data', take);
  socket.on('error', (error) => finish(error.message));
  socket.on('close', () => finish('the connection was dropped'));
  if (head.length > 0) queueMicrotask(() => take(head));
  return {
    send: (message, sent) => send(OPCODES.binary, message, sent),
    pause() {
      paused = true;
      socket.pause();
    },
    resume() {
      paused = false;
      heardAt = performance.now();
      socket.resume();
    },
    cut: () => finish('the connection was cut'),
  };
}

/** Joins frames to messages and answers control frames. */
function createMessageReader(
  send: (opcode: number, payload: Uint8Array) => void,
  events: WebSocketEvents,
  finish: (why: string | undefined) => void,
): (bytes: Buffer) => void {
  const reader = createFrameReader(KUBERNETES_SIZES.messageBytesMax);
  let parts: Buffer[] = [];
  let bytesKept = 0;
  const takeFrame = ({ opcode, isFinal, payload }: Frame): void => {
    if (opcode === OPCODES.ping) send(OPCODES.pong, payload);
    if (opcode === OPCODES.close) {
      send(OPCODES.close, payload.subarray(0, 2));
      finish(undefined);
    }
    if (isControl(opcode)) return;
    if ((opcode === OPCODES.continuation) === (parts.length === 0)) throw new Error('frames came out of order');
    bytesKept += payload.length;
    if (bytesKept > KUBERNETES_SIZES.messageBytesMax) throw new Error('a message is too large');
    parts.push(payload);
    if (!isFinal) return;
    const message = parts.length === 1 ? payload : Buffer.concat(parts);
    parts = [];
    bytesKept = 0;
    events.message(message);
  };
  return (bytes) => {
    for (const frame of reader.read(bytes)) takeFrame(frame);
  };
}
