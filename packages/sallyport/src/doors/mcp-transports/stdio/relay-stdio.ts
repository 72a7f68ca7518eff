import type { Readable, Writable } from 'node:stream';
import { type JSONRPCMessage, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { messageOf } from '@sallyport/std/error/message-of';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { Log } from '../../../telemetry/log.ts';
import { classify, errorAnswer, RPC, type RpcId, type RpcRequest } from '../../json-rpc.ts';
import { ARGUMENTS } from '../../mcp-protocol.ts';
import { readWireJson, TOO_LONG_NUMBER } from '../../wire-json.ts';
import { isModern } from '../modern-envelope.ts';
import { TRANSPORT_DEFAULTS, type TransportSettings } from '../settings.ts';
import { readLines } from './line-reader.ts';
import { refusedLine } from './refused-line.ts';
import { withTaskName } from './task-name.ts';

/** One stdio client and the endpoint that answers it. */
export interface RelayParts {
  /** MCP endpoint of a layer that runs already. */
  readonly url: URL;
  /** Capability token of the client. */
  readonly token: string;
  readonly log: Log;
  readonly input: Readable;
  readonly output: Writable;
  /** Ends the connection early. */
  readonly signal: AbortSignal;
  readonly settings?: Partial<TransportSettings>;
}

/** A request without an answer yet. */
interface Relayed {
  readonly request: RpcRequest;
  readonly cancel: AbortController;
  /** The client cancelled the request: nothing more is sent about it. */
  isCancelled: boolean;
}

/** State of an open relay. */
interface Relay {
  readonly settings: TransportSettings;
  readonly transport: StreamableHTTPClientTransport;
  readonly running: Map<RpcId, Relayed>;
  /** Notifications, and answers to questions, that the endpoint has not yet taken. */
  readonly sending: Set<Promise<void>>;
  readonly write: (text: string) => void;
}

/**
 * Relays the messages of one stdio client to an MCP endpoint over HTTP and back, in both eras, until the client's input
 * ends; progress, cancellation and the endpoint's questions to the user are passed on as they come. Requests running at
 * that point may finish within `closeGraceMs`. Resolves when nothing is open any more.
 */
export async function relayStdio(parts: RelayParts): Promise<void> {
  const { url, token, log, input, output, signal } = parts;
  const settings = { ...TRANSPORT_DEFAULTS, ...parts.settings };
  const write = (text: string): void => {
    if (output.writable) output.write(`${text}\n`);
  };
  const headers = { authorization: `Bearer ${token}` };
  const requestInit = { headers, redirect: 'error' } as const;
  const transport = new StreamableHTTPClientTransport(url, { requestInit, fetch: withTaskName(fetch) });
  const relay: Relay = { settings, transport, running: new Map(), sending: new Set(), write };
  transport.onmessage = (message) => takeBack(message, relay);
  transport.onerror = (cause) => log.debug('mcp-relay-failed', { cause });
  const stopped = Promise.withResolvers<void>();
  const stop = (): void => {
    stopped.resolve();
    input.destroy();
  };
  signal.addEventListener('abort', stop, { once: true });
  output.on('error', stop);
  try {
    await transport.start();
    for await (const line of readLines(input, settings.messageBytesMax)) {
      takeLine(line, relay);
      await Promise.race([stopped.promise, roomFor(relay)]);
    }
  } catch (thrown) {
    if (!signal.aborted) log.warn('mcp-stdio-ended', { cause: thrown });
  } finally {
    signal.removeEventListener('abort', stop);
    await finish(relay);
    output.off('error', stop);
  }
}

/** @param line undefined for a line longer than allowed */
function takeLine(line: Buffer | undefined, relay: Relay): void {
  const { write, settings } = relay;
  if (line === undefined) {
    const message = `The message is larger than ${settings.messageBytesMax} bytes.`;
    write(errorAnswer(null, RPC.invalidRequest, message).text);
    return;
  }
  const read = readWireJson(line, ARGUMENTS);
  if (!read.ok) {
    write(refusedLine(read).text);
    return;
  }
  const message = classify(read.value);
  const given = read.value as JSONRPCMessage;
  if (message.kind === 'invalid') write(errorAnswer(message.id, RPC.invalidRequest, message.message).text);
  else if (message.kind === 'request' && read.inexact === true) {
    write(errorAnswer(message.id, RPC.invalidParams, `An argument holds a ${TOO_LONG_NUMBER}`).text);
  } else if (message.kind === 'request') passOn(message, given, relay);
  else if (message.kind === 'notification' && isCancelHere(message.method, message.params['requestId'], relay)) return;
  else sendOn(given, relay);
}

/** A message without an answer that does not arrive leaves nobody waiting. */
function sendOn(given: JSONRPCMessage, { transport, sending }: Relay): void {
  const sent: Promise<void> = transport
    .send(given)
    .catch(() => undefined)
    .finally(() => sending.delete(sent));
  sending.add(sent);
}

/**
 * Waits, with the rest unread, while the limit of messages under way is reached. Requests alone never cause the wait:
 * further requests are refused, and a cancellation still gets through.
 */
async function roomFor({ running, sending, settings }: Relay): Promise<void> {
  while (sending.size > 0 && running.size + sending.size >= settings.requestsMax) await Promise.race(sending);
}

function passOn(request: RpcRequest, given: JSONRPCMessage, relay: Relay): void {
  const { running, transport, write, settings } = relay;
  const { id } = request;
  if (running.size >= settings.requestsMax || running.has(id)) {
    write(errorAnswer(id, RPC.invalidRequest, `The id runs already, or ${settings.requestsMax} requests do.`).text);
    return;
  }
  const cancel = new AbortController();
  running.set(id, { request, cancel, isCancelled: false });
  const lost = (why: string): void => {
    const isCancelled = running.get(id)?.isCancelled ?? true;
    running.delete(id);
    if (!isCancelled) write(errorAnswer(id, RPC.internalError, why).text);
  };
  const onRequestStreamEnd = (): void => lost('The layer ended the connection before its answer.');
  transport.send(given, { requestSignal: cancel.signal, onRequestStreamEnd }).catch((thrown: unknown) => {
    const refused = refusalIn(thrown, id);
    if (refused === undefined) lost(`The layer does not take the request: ${wordsOf(thrown)}`);
    else takeBack(refused, relay);
  });
}

/** The error answer of the endpoint; in the 2026 era it also has an HTTP status, for example for an unknown method. */
function refusalIn(thrown: unknown, id: RpcId): JSONRPCMessage | undefined {
  if (!SdkHttpError.isInstance(thrown)) return undefined;
  const { text } = thrown.data as { readonly text?: unknown };
  const read = typeof text === 'string' ? readWireJson(Buffer.from(text)) : undefined;
  if (read?.ok !== true || !isObject(read.value)) return undefined;
  return read.value['id'] === id && isObject(read.value['error']) ? (read.value as JSONRPCMessage) : undefined;
}

/**
 * In the 2026 era, closing its connection cancels a request over HTTP; in the 2025 era the notification is passed on.
 */
function isCancelHere(method: string, id: unknown, { running }: Relay): boolean {
  const known = method === 'notifications/cancelled' ? running.get(id as RpcId) : undefined;
  if (known === undefined) return false;
  known.isCancelled = true;
  if (!isModern(known.request)) return false;
  known.cancel.abort();
  running.delete(id as RpcId);
  return true;
}

/** Handles a message from the endpoint. */
function takeBack(message: JSONRPCMessage, { running, transport, write }: Relay): void {
  const answered = 'method' in message || message.id === undefined ? undefined : running.get(message.id);
  if (answered !== undefined) {
    running.delete(answered.request.id);
    if (answered.isCancelled) return;
    const result = 'result' in message && isObject(message.result) ? message.result : {};
    const version = result['protocolVersion'];
    if (answered.request.method === 'initialize' && typeof version === 'string') transport.setProtocolVersion(version);
  }
  write(JSON.stringify(message));
}

async function finish({ running, transport, settings }: Relay): Promise<void> {
  const end = performance.now() + settings.closeGraceMs;
  // A subscription has no answer to wait for: it would keep the process alive until its client kills it.
  for (const [id, { request, cancel }] of running) {
    if (request.method !== 'subscriptions/listen') continue;
    cancel.abort();
    running.delete(id);
  }
  while (running.size > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
  for (const { cancel } of running.values()) cancel.abort();
  await transport.terminateSession().catch(() => undefined);
  await transport.close();
}

const WORDS_CHARACTERS_MAX = 300;
const wordsOf = (thrown: unknown): string => messageOf(thrown).slice(0, WORDS_CHARACTERS_MAX);
