// Hot path: every tools/call of every upstream goes through here.
import {
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { Clock } from '../../std/clock.ts';
import { createFloodGate } from '../pacing/flood-gate.ts';
import { createRequestTable, FIRST_ID, type RawResult, type RequestOptions } from './request-table.ts';

/** Bounds of one connection. */
const MULTIPLEXER_BOUNDS = {
  /** Requests that wait for an answer; one more is refused with E3803. */
  inFlightMax: 1024,
  /** Messages that nobody asked for, in one window; beyond it the connection ends. */
  unsolicitedMax: 20_000,
  unsolicitedWindowMs: 10_000,
} as const;

type Meta = Readonly<Record<string, unknown>> | undefined;

/** One transport shared by the SDK client, which does the handshake, and by our own requests, which do the work. */
export interface Multiplexer {
  /** The transport that the SDK client connects to. */
  readonly control: Transport;
  /**
   * Sends a request and waits for its result.
   * @throws ProtocolError for an error answer; E3103 at a timeout; E3107 when the connection ends before the answer; E3308
   *   for an answer that is none; E3803 when too many wait; the signal's reason; what the transport throws when it cannot send
   */
  request(method: string, params: Readonly<Record<string, unknown>>, options: RequestOptions): Promise<RawResult>;
  /** Joins these members into `_meta` of every request: the envelope of protocol 2026-07-28. */
  setEnvelope(meta: Meta): void;
  /** Fails one request whose answer cannot be read. False when no such request waits. */
  failRequest(id: number, error: Error): boolean;
  /** Whether the server said anything to the probe that asks for the newer protocol. */
  probeAnswered(): boolean;
}

/** Who is connected, and what to do when it floods. */
export interface MultiplexerParts {
  readonly transport: Transport;
  readonly label: string;
  readonly clock: Clock;
  onFlood(): void;
}

/** Wraps a transport that was not started yet. */
export function createMultiplexer(parts: MultiplexerParts): Multiplexer {
  const { transport, label } = parts;
  const seen = { strayAnswers: 0, probeAnswered: false };
  const table = createRequestTable(label, () =>
    seen.strayAnswers === 0 ? '' : ` It sent ${seen.strayAnswers} answers to requests that do not wait.`,
  );
  const control = controlOf(transport);
  const streams = transport.hasPerRequestStream === true ? new Map<number, AbortController>() : undefined;
  let envelope: Meta;
  let closed = false;

  transport.onmessage = routeMessages(parts, control, table, seen);
  transport.onerror = (error) => control.onerror?.(error);
  transport.onclose = () => {
    closed = true;
    table.failAll(() => lostConnection(label));
    control.onclose?.();
  };
  const onGiveUp = (id: number, why: string): void => {
    const stream = streams?.get(id);
    // Over HTTP the request's own stream ends only after the server was told why.
    const told = transport.send(cancelled(id, why, envelope)).catch(ignore);
    if (stream !== undefined) void told.then(() => stream.abort());
  };

  return {
    control,
    setEnvelope(meta) {
      envelope = meta;
    },
    failRequest: table.fail,
    probeAnswered: () => seen.probeAnswered,
    request(method, params, options) {
      if (closed) return Promise.reject(new SdkError(SdkErrorCode.NotConnected, 'The connection is closed.'));
      if (options.signal?.aborted === true) return Promise.reject(options.signal.reason);
      if (table.size() >= MULTIPLEXER_BOUNDS.inFlightMax) return Promise.reject(tooMany(label));
      const { id, answer } = table.open(options, onGiveUp);
      const message = requestOf(id, method, params, options, envelope);
      const lost = (error: unknown): unknown => table.fail(id, error);
      if (streams === undefined) transport.send(message).catch(lost);
      else {
        const stream = new AbortController();
        streams.set(id, stream);
        const onRequestStreamEnd = (): unknown => lost(lostConnection(label));
        transport.send(message, streamOptions(stream.signal, options, onRequestStreamEnd)).catch(lost);
        answer.catch(ignore).finally(() => streams.delete(id));
      }
      return answer;
    },
  };
}

/** Gives each message to whom it concerns: our own requests, or the SDK client. */
function routeMessages(
  { clock, onFlood }: MultiplexerParts,
  control: Transport,
  table: ReturnType<typeof createRequestTable>,
  seen: { strayAnswers: number; probeAnswered: boolean },
): NonNullable<Transport['onmessage']> {
  const gate = createFloodGate(clock, {
    itemsMax: MULTIPLEXER_BOUNDS.unsolicitedMax,
    bytesMax: Number.POSITIVE_INFINITY,
    windowMs: MULTIPLEXER_BOUNDS.unsolicitedWindowMs,
  });
  return (message, extra) => {
    if ('method' in message) {
      if (message.method === 'notifications/progress' && table.progress(message.params)) return;
      if (!gate.admits(0)) onFlood();
      else if (!isNoise(message.method)) control.onmessage?.(message, extra);
    } else if (table.settle(message)) return;
    else if (isControlId(message.id)) {
      if (typeof message.id === 'string') seen.probeAnswered = true;
      control.onmessage?.(message, extra);
    } else {
      seen.strayAnswers += 1;
      if (!gate.admits(0)) onFlood();
    }
  };
}

function controlOf(transport: Transport): Transport {
  const control: Transport = {
    start: () => transport.start(),
    send: (message, options) => transport.send(message, options),
    close: () => transport.close(),
    setProtocolVersion: (version) => transport.setProtocolVersion?.(version),
    get sessionId() {
      return transport.sessionId;
    },
  };
  if (transport.hasPerRequestStream === true) return Object.assign(control, { hasPerRequestStream: true });
  // The two members by which the SDK tells a stdio transport from an HTTP one.
  return Object.assign(control, { stderr: null, pid: null });
}

function requestOf(
  id: number,
  method: string,
  params: Readonly<Record<string, unknown>>,
  { onProgress, idleMs }: RequestOptions,
  envelope: Meta,
): JSONRPCMessage {
  const wantsProgress = onProgress !== undefined || idleMs !== undefined;
  const meta = wantsProgress ? { ...envelope, progressToken: id } : envelope;
  return { jsonrpc: '2.0', id, method, params: meta === undefined ? params : { ...params, _meta: meta } };
}

function streamOptions(
  requestSignal: AbortSignal,
  { headers }: RequestOptions,
  onRequestStreamEnd: () => void,
): TransportSendOptions {
  return { requestSignal, onRequestStreamEnd, headers };
}

/** Ids that the SDK client gives: small numbers, and a text for its probe. */
function isControlId(id: unknown): boolean {
  return typeof id === 'number' ? id < FIRST_ID : typeof id === 'string' && id.startsWith('server-discover-probe-');
}

/** Notifications that nothing here listens to; dropping them early spares their validation. */
function isNoise(method: string): boolean {
  return (
    method === 'notifications/message' ||
    method === 'notifications/progress' ||
    method.startsWith('notifications/resources/') ||
    method.startsWith('notifications/prompts/')
  );
}

function cancelled(id: number, reason: string, envelope: Meta): JSONRPCMessage {
  const params = { requestId: id, reason, ...(envelope === undefined ? {} : { _meta: envelope }) };
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params };
}

function lostConnection(label: string): ToolLayerError {
  return new ToolLayerError('E3107', `The upstream '${label}' ended while the call was running.`, {
    details: { reached: true },
  });
}

function tooMany(label: string): ToolLayerError {
  return new ToolLayerError(
    'E3803',
    `The upstream '${label}' already has ${MULTIPLEXER_BOUNDS.inFlightMax} requests in flight. Try again later.`,
    { details: { reached: false } },
  );
}

function ignore(): void {}
