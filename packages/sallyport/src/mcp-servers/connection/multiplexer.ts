import { AsyncLocalStorage } from 'node:async_hooks';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCMessage,
  LOG_LEVEL_META_KEY,
  SdkError,
  SdkErrorCode,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { roundedInAnswers } from '@sallyport/std/json/json-text';
import { LEAST_BY_DEFAULT, type LogLevel, type LogMessage } from '../../domain/invocation/log-message.ts';
import { isObject } from '../../domain/shape/is-object.ts';
import type { Askers } from '../incoming/asker.ts';
import type { Questions } from '../incoming/questions.ts';
import { isProbeId, routeMessages, type SeenMessages } from '../incoming/route-messages.ts';
import { levelToSet } from '../incoming/server-logs.ts';
import { createServerRequests } from '../incoming/server-requests.ts';
import { createRequestTable, type RawResult, type RequestOptions, type RequestTable } from './request-table.ts';

/** Limits of one connection. */
const MULTIPLEXER_BOUNDS = {
  /** Requests that wait for an answer; one more is refused with E3803. */
  inFlightMax: 1024,
  /** Longest wait, in ms, for the server to take a log level. */
  setLevelMs: 2_000,
} as const;

type Meta = Readonly<Record<string, unknown>> | undefined;

/** One transport shared by the SDK client, which does the handshake, and our own requests, which carry the calls. */
export interface Multiplexer {
  /** The transport that the SDK client connects to. */
  readonly control: Transport;
  /**
   * Sends a request and waits for its result.
   * @throws ProtocolError for an error answer; E3103 at a timeout; E3107 when the connection ends before the answer;
   *   E3308 for an invalid answer; E3803 when too many wait; the signal's reason; what the transport throws when it
   *   cannot send
   */
  request(method: string, params: Readonly<Record<string, unknown>>, options: RequestOptions): Promise<RawResult>;
  /**
   * Takes what the handshake agreed.
   * @param meta members of `_meta` of every request: the envelope of protocol 2026-07-28
   * @param hasLogLevel the server takes the level from which on it sends log messages
   */
  agree(meta: Meta, hasLogLevel: boolean): void;
  /** Handles questions to clients, those in results of calls included. */
  readonly questions: Questions;
  /** Takes the text of messages before they are delivered: what a number cannot hold is only seen there. */
  noteText(text: string): void;
  /** Fails one request whose answer cannot be read. False when no such request waits. */
  failRequest(id: number, error: Error): boolean;
  /** True when the server answered the probe for the newer protocol in any way. */
  probeAnswered(): boolean;
  /** Answers the probe in place of a server that ignores it. */
  endProbe(): void;
}

/** Connection, and the reaction to a flooding server. */
export interface MultiplexerParts {
  readonly transport: Transport;
  readonly label: string;
  readonly clock: Clock;
  /** Answers the server's questions to clients. */
  readonly questions: Questions;
  /** Length of the message being delivered, in bytes; absent when the transport limits messages itself. */
  messageBytes?(): number;
  onFlood(): void;
  /** Called for a question that does not name its call, with the calls that it may belong to. */
  onAsks(askers: Askers): void;
  /** Receives log messages that belong to no call, without the connection's secrets. */
  onLog(message: LogMessage, owner?: string): void;
}

/**
 * The request whose own stream is being read. The transport does not say on which stream a message came, but reads each
 * stream within the async context of `send`.
 */
const readStream = new AsyncLocalStorage<{ readonly transport: Transport; readonly id: number }>();

/** What a connection knows beside its requests. */
interface State {
  /** The envelope of protocol 2026-07-28. */
  envelope: Meta;
  hasLogLevel: boolean;
  /** The level of log messages that the server was set to. */
  logLevel: LogLevel | undefined;
  isClosed: boolean;
}

/** Wraps a transport that was not started yet. */
export function createMultiplexer(parts: MultiplexerParts): Multiplexer {
  const { transport, label, clock, questions } = parts;
  const seen: SeenMessages = { strayAnswers: 0, probeId: undefined, probeAnswered: false };
  const state: State = { envelope: undefined, hasLogLevel: false, logLevel: undefined, isClosed: false };
  const hint = (): string =>
    seen.strayAnswers === 0 ? '' : ` It sent ${seen.strayAnswers} answers to requests that do not wait.`;
  const table = createRequestTable({ label, clock, hint, onEmpty: () => serverRequests.abandon() });
  const serverRequests = createServerRequests({
    questions,
    askers: table.askers,
    onAsks: parts.onAsks,
    send: (message) => void transport.send(message).catch(ignore),
    onWaiting: table.holdIdle,
  });
  const control = controlOf(transport, seen);
  const streams = transport.hasPerRequestStream === true ? new Map<number, AbortController>() : undefined;

  transport.onmessage = routeMessages(
    {
      clock,
      table,
      serverRequests,
      control,
      messageBytes: parts.messageBytes ?? (() => 0),
      sentOn: () => (streams === undefined ? undefined : sentOn(transport)),
      isModern: () => state.envelope !== undefined,
      onFlood: parts.onFlood,
      onLog: parts.onLog,
    },
    seen,
  );
  transport.onerror = (error) => control.onerror?.(error);
  transport.onclose = () => {
    state.isClosed = true;
    table.failAll(() => lostConnection(label));
    serverRequests.abandon();
    control.onclose?.();
  };
  return {
    control,
    questions,
    agree(meta, hasLogLevel) {
      state.envelope = meta;
      state.hasLogLevel = hasLogLevel;
    },
    noteText(text) {
      for (const [id, places] of roundedInAnswers(text)) table.noteRounded(id, places);
    },
    failRequest: table.fail,
    probeAnswered: () => seen.probeAnswered,
    endProbe: () => endProbe(seen, control),
    request: withLogLevel(state, createSend(parts, state, table, streams)),
  };
}

type Send = Multiplexer['request'];

/** Sends our own requests. */
function createSend(
  { transport, label, questions }: MultiplexerParts,
  state: State,
  table: RequestTable,
  streams: Map<number, AbortController> | undefined,
): Send {
  const onGiveUp = (id: number, why: string): void => {
    const stream = streams?.get(id);
    // Over HTTP the request's own stream ends only after the server received the reason.
    const sent = transport.send(cancelled(id, why, state.envelope)).catch(ignore);
    if (stream !== undefined) void sent.then(() => stream.abort());
  };
  return (method, params, options) => {
    if (state.isClosed) return Promise.reject(new SdkError(SdkErrorCode.NotConnected, 'The connection is closed.'));
    if (options.signal?.aborted === true) return Promise.reject(options.signal.reason);
    if (table.size() >= MULTIPLEXER_BOUNDS.inFlightMax) return Promise.reject(tooMany(label));
    const { id, answer } = table.open(options, onGiveUp);
    const message = requestOf(id, method, params, options, envelopeFor(state.envelope, questions, options));
    const lost = (error: unknown): unknown => table.fail(id, error);
    if (streams === undefined) {
      transport.send(message).catch(lost);
      return answer;
    }
    sendStreamed({ transport, streams, id, message, options, answer, lost }, label);
    return answer;
  };
}

/** Sets the server's level of log messages before a request whose caller wants more of them than it sends so far. */
function withLogLevel(state: State, send: Send): Send {
  return (method, params, options) => {
    const canBeSet = state.hasLogLevel && state.envelope === undefined;
    const level = canBeSet ? levelToSet(options.asker?.logs, state.logLevel) : undefined;
    // Fast path: nobody wants more.
    if (level === undefined) return send(method, params, options);
    // A session of the server has one level for all its calls.
    state.logLevel = level;
    const set = send('logging/setLevel', { level }, { timeoutMs: MULTIPLEXER_BOUNDS.setLevelMs }).catch(ignore);
    return set.then(() => send(method, params, options));
  };
}

/** The envelope of one request: a server of 2026-07-28 learns what the client of that call can be asked, and its level. */
function envelopeFor(envelope: Meta, questions: Questions, { asker }: RequestOptions): Meta {
  if (envelope === undefined || asker === undefined) return envelope;
  const { can = {}, logs } = asker;
  return {
    ...envelope,
    [CLIENT_CAPABILITIES_META_KEY]: questions.capabilities(can),
    ...(logs === undefined ? {} : { [LOG_LEVEL_META_KEY]: logs.level ?? LEAST_BY_DEFAULT }),
  };
}

/** The request of this transport on whose stream the current message came. */
function sentOn(transport: Transport): number | undefined {
  const read = readStream.getStore();
  return read?.transport === transport ? read.id : undefined;
}

interface StreamedRequest {
  readonly transport: Transport;
  /** Streams of the running requests, by id. */
  readonly streams: Map<number, AbortController>;
  readonly id: number;
  readonly message: JSONRPCMessage;
  readonly options: RequestOptions;
  readonly answer: Promise<RawResult>;
  lost(error: unknown): unknown;
}

/** Sends a request with a stream of its own; when the stream ends before the answer, the request fails. */
function sendStreamed(
  { transport, streams, id, message, options, answer, lost }: StreamedRequest,
  label: string,
): void {
  const stream = new AbortController();
  streams.set(id, stream);
  const onRequestStreamEnd = (): unknown => lost(lostConnection(label));
  const send = (): Promise<void> => transport.send(message, streamOptions(stream.signal, options, onRequestStreamEnd));
  readStream.run({ transport, id }, send).catch(lost);
  answer.catch(ignore).finally(() => streams.delete(id));
}

function controlOf(transport: Transport, seen: SeenMessages): Transport {
  const control: Transport = {
    start: () => transport.start(),
    // Sent outside the current context: its stream belongs to no request of ours.
    send(message, options) {
      if ('id' in message && isProbeId(message.id)) seen.probeId = message.id;
      return readStream.exit(() => transport.send(message, options));
    },
    close: () => transport.close(),
    setProtocolVersion: (version) => transport.setProtocolVersion?.(version),
    get sessionId() {
      return transport.sessionId;
    },
  };
  if (transport.hasPerRequestStream === true) return Object.assign(control, { hasPerRequestStream: true });
  // The two members by which the SDK distinguishes a stdio transport from an HTTP one.
  return Object.assign(control, { stderr: null, pid: null });
}

function endProbe({ probeId, probeAnswered }: SeenMessages, control: Transport): void {
  if (probeAnswered || probeId === undefined) return;
  const error = { code: -32601, message: 'The server does not answer.' };
  control.onmessage?.({ jsonrpc: '2.0', id: probeId, error });
}

function requestOf(
  id: number,
  method: string,
  params: Readonly<Record<string, unknown>>,
  { onProgress, onCheckpoint, idleMs, meta: added, extensions }: RequestOptions,
  given: Meta,
): JSONRPCMessage {
  const envelope = extensions === undefined ? given : declaring(given, extensions);
  const wantsProgress = onProgress !== undefined || onCheckpoint !== undefined || idleMs !== undefined;
  const own = wantsProgress ? { ...envelope, progressToken: id } : envelope;
  const meta = added === undefined ? own : { ...added, ...own };
  return { jsonrpc: '2.0', id, method, params: meta === undefined ? params : { ...params, _meta: meta } };
}

/** The envelope with further extensions among the client's capabilities. */
function declaring(envelope: Meta, extensions: Readonly<Record<string, unknown>>): Meta {
  const stated = envelope?.[CLIENT_CAPABILITIES_META_KEY];
  if (!isObject(stated)) return envelope;
  const known = isObject(stated['extensions']) ? stated['extensions'] : {};
  return { ...envelope, [CLIENT_CAPABILITIES_META_KEY]: { ...stated, extensions: { ...known, ...extensions } } };
}

function streamOptions(
  requestSignal: AbortSignal,
  { headers }: RequestOptions,
  onRequestStreamEnd: () => void,
): TransportSendOptions {
  return { requestSignal, onRequestStreamEnd, headers };
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
