import type { Readable, Writable } from 'node:stream';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { ConnectionLost } from '../../../domain/principal/connection-lost.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { Log } from '../../../telemetry/log.ts';
import { classify, errorAnswer, ID_IN_USE, type Params, RPC, type RpcId, type RpcRequest } from '../../json-rpc.ts';
import { ARGUMENTS } from '../../mcp-protocol.ts';
import type { AskClient, McpServer } from '../../mcp-server.ts';
import { readWireJson } from '../../wire-json.ts';
import { type ClientQuestions, createClientQuestions } from '../client-questions.ts';
import { clientCapabilities, isModern, refuseEnvelope } from '../modern-envelope.ts';
import { TRANSPORT_DEFAULTS, type TransportSettings } from '../settings.ts';
import { readLines } from './line-reader.ts';
import { refusedLine } from './refused-line.ts';
import { createStdioNotices, type StdioNotices } from './stdio-notices.ts';

/** Parts of a stdio connection. */
export interface StdioParts {
  readonly server: McpServer;
  readonly log: Log;
  readonly input: Readable;
  readonly output: Writable;
  /** The client as caller: its door is `mcp`, its token comes from the environment. */
  readonly caller: Caller;
  /** Aborted when the layer stops: nothing more is read, and running requests may finish within `closeGraceMs`. */
  readonly signal: AbortSignal;
  readonly settings?: Partial<TransportSettings>;
}

/** State of an open connection. */
interface Connection extends StdioParts {
  readonly settings: TransportSettings;
  readonly running: Map<RpcId, AbortController>;
  readonly notices: StdioNotices;
  readonly write: (text: string) => void;
  readonly questions: ClientQuestions;
  /** The client's capabilities from its handshake. */
  can: Params;
}

/**
 * Serves one client over newline-delimited JSON on a pair of streams, in both eras, until its input ends. Requests
 * running then may finish within `closeGraceMs`; after that they are cancelled, and when the layer stops they are
 * answered with E3811. Resolves when nothing runs any more.
 */
export async function serveStdio(parts: StdioParts): Promise<void> {
  const { server, log, caller, input, output, signal } = parts;
  const settings = { ...TRANSPORT_DEFAULTS, ...parts.settings };
  const write = (text: string): void => {
    if (output.writable) output.write(`${text}\n`);
  };
  const notices = createStdioNotices({ server, caller, subscriptionsMax: settings.streamsMax, write });
  let asked = Promise.withResolvers<void>();
  const questions = createClientQuestions(() => {
    asked.resolve();
    asked = Promise.withResolvers<void>();
  });
  const connection: Connection = { ...parts, settings, running: new Map(), notices, write, questions, can: {} };
  const pending = new Set<Promise<void>>();
  const stop = (): void => void input.destroy();
  signal.addEventListener('abort', stop, { once: true });
  // The client closed its end; writing to it must not end the process.
  output.on('error', stop);
  try {
    for await (const line of readLines(input, settings.messageBytesMax)) {
      const work = takeLine(line, connection);
      if (work !== undefined) {
        pending.add(work);
        void work.then(() => pending.delete(work));
      }
      if (output.writableNeedDrain) await drained(output);
      // A request that waits for the client's answer needs further input to be read.
      while (pending.size - questions.open >= settings.requestsMax) await Promise.race([asked.promise, ...pending]);
    }
  } catch (thrown) {
    if (!signal.aborted) log.warn('mcp-stdio-ended', { cause: thrown });
  } finally {
    connection.notices.close();
    questions.close();
    await finish(pending, connection);
    signal.removeEventListener('abort', stop);
    output.off('error', stop);
  }
}

/** @param line undefined for a line longer than allowed */
function takeLine(line: Buffer | undefined, connection: Connection): Promise<void> | undefined {
  if (line === undefined) {
    const message = `The message is larger than ${connection.settings.messageBytesMax} bytes.`;
    connection.write(errorAnswer(null, RPC.invalidRequest, message).text);
    return undefined;
  }
  const read = readWireJson(line, ARGUMENTS);
  if (!read.ok) {
    connection.write(refusedLine(read).text);
    return undefined;
  }
  const message = classify(read.value);
  if (message.kind === 'request') return answerSafely(message, connection);
  if (message.kind === 'invalid') connection.write(errorAnswer(message.id, RPC.invalidRequest, message.message).text);
  if (message.kind === 'notification') takeNotification(message.method, message.params, connection);
  if (message.kind === 'response') connection.questions.take(message);
  return undefined;
}

async function answerSafely(request: RpcRequest, connection: Connection): Promise<void> {
  try {
    await answer(request, connection);
  } catch (thrown) {
    connection.log.error('mcp-request-failed', { cause: thrown });
    connection.write(errorAnswer(request.id, RPC.internalError, failureOf(thrown).message).text);
  }
}

async function answer(request: RpcRequest, connection: Connection): Promise<void> {
  const { server, caller, running, notices, write, questions } = connection;
  const modern = isModern(request);
  const refused = modern ? refuseEnvelope(request) : undefined;
  if (refused !== undefined) {
    write(refused.text);
    return;
  }
  if (modern && request.method === 'subscriptions/listen') {
    await notices.subscribe(request);
    return;
  }
  if (running.has(request.id)) {
    write(errorAnswer(request.id, RPC.invalidRequest, ID_IN_USE).text);
    return;
  }
  const cancel = new AbortController();
  running.set(request.id, cancel);
  const { session: watch } = notices;
  const peer = { caller, signal: cancel.signal, notify: write };
  const ask: AskClient = (method, params, until) =>
    questions.ask(method, params, sendOver(connection), AbortSignal.any([until, cancel.signal]));
  const answered = await (modern
    ? server.answer(request, { ...peer, era: 'modern', can: clientCapabilities(request) })
    : server.answer(request, {
        ...peer,
        era: 'legacy',
        can: connection.can,
        ask,
        ...(watch === undefined ? {} : { watch }),
      }));
  if (running.get(request.id) === cancel) running.delete(request.id);
  if (request.method === 'initialize' && answered.failed !== true) {
    const { capabilities } = request.params;
    connection.can = isObject(capabilities) ? capabilities : {};
    await notices.openSession();
  }
  // Nothing more is sent about a request that its client cancelled.
  if (!cancel.signal.aborted || cancel.signal.reason instanceof ToolLayerError) write(answered.text);
}

function sendOver({ output, write }: Connection): (text: string) => boolean {
  return (text) => {
    write(text);
    return output.writable;
  };
}

function takeNotification(method: string, params: Params, { running, notices }: Connection): void {
  if (method !== 'notifications/cancelled') return;
  const id = params['requestId'] as RpcId;
  running.get(id)?.abort();
  notices.unsubscribe(id);
}

async function finish(pending: ReadonlySet<Promise<void>>, { settings, running, signal }: Connection): Promise<void> {
  const cancelAll = setTimeout(() => {
    const isStopped = signal.aborted === true;
    const reason = isStopped
      ? new ToolLayerError('E3811', 'The layer stopped while the call ran.')
      : new ConnectionLost();
    for (const cancel of running.values()) cancel.abort(reason);
  }, settings.closeGraceMs);
  await Promise.all(pending);
  clearTimeout(cancelAll);
}

function drained(output: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      output.off('drain', done);
      output.off('close', done);
      resolve();
    };
    output.on('drain', done);
    output.on('close', done);
  });
}
