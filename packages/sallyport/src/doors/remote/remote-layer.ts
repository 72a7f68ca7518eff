import { type IncomingMessage, request as sendPlainly } from 'node:http';
import { request as sendSecurely } from 'node:https';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { boundedBody } from '@sallyport/std/web/bounded-body';
import type { Caller } from '../../domain/principal/principal.ts';
import { OPERATIONS, type OperationName } from '../../operations/catalogue.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { type Answer, errorOfAnswer, isInvocation } from './error-of-answer.ts';
import { type RemoteRequest, requestOf } from './request-of.ts';
import { REMOTE_DEFAULTS, type RemoteSettings } from './settings.ts';

/** Address of a layer, and the credentials to ask it with. */
export interface RemoteLayerParts {
  /** Address without trailing slash, for example http://127.0.0.1:7420. */
  readonly url: string;
  /** Unix socket of a layer on this machine, used instead of the address: access to it means operator rights. */
  readonly socket?: string;
  /** Sent when the caller has no token of its own. */
  readonly token?: string;
  readonly settings?: Partial<RemoteSettings>;
}

/**
 * A layer in another process, asked over its REST door with kept-alive connections. Answers and errors are those of the
 * layer; the progress of calls is not transmitted. Further errors: E3310 with `details.layer = "unreachable"` when
 * nothing answers there, E3308 when the peer is no layer, E3805 when the caller's signal aborted first.
 */
export function createRemoteLayer(parts: RemoteLayerParts): ToolLayer {
  const settings = { ...REMOTE_DEFAULTS, ...parts.settings };
  const base = parts.url.replace(/\/+$/, '');

  const ask = async (name: OperationName, input: object, caller: Caller): Promise<unknown> => {
    const { path, request } = requestOf(name, input, tokenFor(caller, parts.token), caller);
    const answer = await exchange(new URL(`${base}${path}`), request, parts.socket, settings.answerBytesMax);
    const body = parsed(answer.text);
    if (answer.status === OPERATIONS[name].status || isInvocation(name, answer, body) || isHealth(name, body)) {
      if (body === undefined) throw notALayer(base, answer.status);
      return body;
    }
    throw errorOfAnswer(body, answer) ?? notALayer(base, answer.status);
  };

  return {
    ask: ask as ToolLayer['ask'],
    onToolsChanged: (listener) => {
      const look = async (): Promise<string> => sha256(JSON.stringify(await ask('tools.manifests', PAGE, OWN)));
      return watch(look, listener, settings.changesPollMs);
    },
  };
}

const OWN: Caller = { door: 'library' };
const PAGE = { page: 1, page_size: 1_000 };

function tokenFor(caller: Caller, own: string | undefined): string | undefined {
  return caller.token ?? own;
}

/** An unready layer answers health with 503, which is still an answer. */
function isHealth(name: OperationName, body: unknown): boolean {
  return name === 'health' && typeof body === 'object' && body !== null && 'ready' in body;
}

async function exchange(
  url: URL,
  { method, headers, body, signal }: RemoteRequest,
  socketPath: string | undefined,
  bytesMax: number,
): Promise<Answer> {
  const send = url.protocol === 'https:' ? sendSecurely : sendPlainly;
  try {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const options = { method, headers, ...(socketPath === undefined ? {} : { socketPath }), ...(signal && { signal }) };
    send(url, options, resolve).once('error', reject).end(body);
    const response = await promise;
    const { statusCode: status = 0, headers: answered } = response;
    return { status, contentType: answered['content-type'], text: await readText(response, bytesMax) };
  } catch (cause) {
    if (cause instanceof ToolLayerError) throw cause;
    if (signal?.aborted === true) throw new ToolLayerError('E3805', 'The call was cancelled.', { cause });
    throw new ToolLayerError('E3310', `No layer answers at ${url.origin}. Start one with: sallyport serve`, {
      cause,
      details: { layer: 'unreachable' },
    });
  }
}

async function readText(response: IncomingMessage, bytesMax: number): Promise<string> {
  const body = await boundedBody({ body: response }, bytesMax);
  if (body === undefined) throw new ToolLayerError('E3308', `The answer is larger than ${bytesMax} bytes.`);
  return body.toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function notALayer(base: string, status: number): ToolLayerError {
  return new ToolLayerError('E3308', `What answers at ${base} is no layer (HTTP ${status}). Check the address.`);
}

/** Polls until disposed; a failed poll is ignored. */
function watch(look: () => Promise<string>, changed: () => void, everyMs: number): Disposable {
  let last: string | undefined;
  let disposed = false;
  let timer: NodeJS.Timeout | undefined;
  const turn = async (): Promise<void> => {
    const seen = await look().catch(() => last);
    if (disposed) return;
    if (last !== undefined && seen !== last) changed();
    last = seen;
    timer = setTimeout(() => void turn(), everyMs).unref();
  };
  void turn();
  return {
    [Symbol.dispose]: () => {
      disposed = true;
      clearTimeout(timer);
    },
  };
}
