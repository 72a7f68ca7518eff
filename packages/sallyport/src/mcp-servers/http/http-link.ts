import { SdkError } from '@modelcontextprotocol/client';
import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { HttpTransport } from '../../../api/schemas/upstream.ts';
import { createGuardedFetch } from '../../external/guarded-fetch.ts';
import { hideInValue } from '../../external/hide-secrets.ts';
import type { OutboundHttp } from '../../external/outbound-http.ts';
import { callFailure } from '../connection/call-failures.ts';
import { callTool } from '../connection/calls/call-tool.ts';
import { type Handshake, shakeHands } from '../connection/handshake/handshake.ts';
import type { Link, LinkParts, OpenOptions } from '../connection/link.ts';
import { listTools } from '../connection/listing/list-tools.ts';
import { createMultiplexer, type Multiplexer } from '../connection/multiplexer.ts';
import { listOffers } from '../connection/offers/list-offers.ts';
import { type FilledValues, fillSecrets } from '../connection/secrets/secret-values.ts';
import { taskLink } from '../connection/tasks/task-link.ts';
import { createQuestions } from '../incoming/questions.ts';
import { giveHidden } from '../incoming/server-logs.ts';
import type { Authorizer } from './authorization/authorized-fetch.ts';
import { boundedFetch, type HttpFetch } from './bounded-fetch.ts';
import { httpFailure, isSessionGone, wasNotSent } from './http-failures.ts';
import { type HttpWay, type MakeWay, sseWay, streamableWay } from './http-ways.ts';
import { headersFor, type ParamHeader, takeParamHeaders } from './param-headers.ts';

/** Dependencies of an HTTP link beside its definition. */
export interface HttpLinkParts extends LinkParts {
  /** Sends the requests. */
  readonly outbound: OutboundHttp;
  /** Adds access tokens to the requests; undefined: nobody logs in. */
  readonly authorizer: Authorizer | undefined;
}

/** How long a server may take to confirm the end of our session, ms. */
const FAREWELL_TIMEOUT_MS = 1_000;
const TEXT_CHARS_MAX = 300;

/**
 * Statuses with which a server of the older transport answers `initialize` (MCP 2025-11-25, transports, backwards
 * compatibility).
 */
const OLDER_TRANSPORT: ReadonlySet<unknown> = new Set([400, 404, 405]);

/**
 * Connects to a server over streamable HTTP, or over HTTP+SSE of protocol 2024-11-05 where the definition says so or
 * the server does not know the newer transport. Redirects are refused; header values with `{{NAME}}` come from the
 * secret store.
 * @throws E3302 for a missing secret; E3310 when it cannot be reached; E3306 when it did not answer; E3307 when it
 *   refuses the credential; E3304 E3309 by its status; E3308 when it broke the protocol
 */
export async function openHttpLink(
  parts: HttpLinkParts,
  tenantId: string,
  name: string,
  definition: HttpTransport,
  options: OpenOptions & { readonly timeoutMs: number },
): Promise<Link> {
  const filled = await fillSecrets(tenantId, definition.headers ?? {}, parts.secrets);
  const url = new URL(definition.url);
  const carrier = carrierOf(parts.outbound, url);
  const hidden = withTokens(filled, parts.authorizer);
  const over = (make: MakeWay): Promise<Link> => {
    const open: OpenWay = (onText) => {
      const carry = boundedFetch(carrier, onText);
      return make(url, filled.values, parts.authorizer?.over(carry) ?? carry);
    };
    return connect(parts, { tenantId, name }, open, hidden, options);
  };
  if (definition.type === 'sse') return over(sseWay);
  try {
    return await over(streamableWay);
  } catch (thrown) {
    const status = thrown instanceof ToolLayerError ? thrown.failure.details?.['status'] : undefined;
    if (!OLDER_TRANSPORT.has(status) || options.signal.aborted) throw thrown;
    // When both transports fail, the error of the first one is reported.
    return await over(sseWay).catch(() => Promise.reject(thrown));
  }
}

/** @param onText receives the text of each message before it is delivered */
type OpenWay = (onText: (text: string) => void) => HttpWay;

async function connect(
  parts: HttpLinkParts,
  { tenantId, name }: { readonly tenantId: string; readonly name: string },
  open: OpenWay,
  { hide, hideInAnswers }: FilledValues,
  options: OpenOptions & { readonly timeoutMs: number },
): Promise<Link> {
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const way = open((text) => mux.noteText(text));
  let closing: Promise<void> | undefined;
  const close = (reason: string): Promise<void> => {
    closing ??= farewell(way).then(() => end(hide(reason)));
    return closing;
  };
  const mux = createMultiplexer({
    transport: way.transport,
    label: name,
    clock: parts.clock,
    questions: createQuestions({ ...parts, tenantId, upstream: name }),
    onAsks: (askers) => options.onAsks?.(askers),
    onLog: (message, owner) => giveHidden(message, hideInAnswers, options.onLog, owner),
    onFlood: () => void close('It floods the connection with messages that nobody asked for.'),
  });
  const failureOf = (thrown: unknown): unknown => httpFailure(name, thrown, hide, parts.clock.now()) ?? thrown;
  const stop = (): void => void close('The connection was given up.');
  options.signal.addEventListener('abort', stop, { once: true });
  try {
    const hands = await shakeHands(mux, {
      client: parts.client,
      timeoutMs: options.timeoutMs,
      signal: options.signal,
      olderProtocolOnly: options.olderProtocolOnly || way.isOlder,
      alwaysAnswers: true,
      onToolsChanged: options.onToolsChanged,
      onOffersChanged: () => options.onOffersChanged?.(),
      onResourceUpdated: (uri) => options.onResourceUpdated?.(uri),
      onError: (error) => parts.log.debug('upstream-http-error', { upstream: name, error: hide(error.message) }),
    });
    way.onLost(() => void close('Its stream of events ended.'));
    return linkOf(name, mux, hands, { failureOf, hideInAnswers, ended, close });
  } catch (thrown) {
    await close('It could not be connected.');
    throw startFailure(name, way.faultOf(thrown), { failureOf, hide }, options);
  } finally {
    options.signal.removeEventListener('abort', stop);
  }
}

interface HttpConnection extends Pick<FilledValues, 'hideInAnswers'> {
  /** The failure of a request over HTTP; anything else unchanged. */
  readonly failureOf: (thrown: unknown) => unknown;
  readonly ended: Promise<string>;
  readonly close: (reason: string) => Promise<void>;
}

function linkOf(
  name: string,
  mux: Multiplexer,
  hands: Handshake,
  { failureOf, hideInAnswers, ended, close }: HttpConnection,
): Link {
  const shown = <Said>(said: Said): Said => (hideInAnswers === undefined ? said : hideInValue(said, hideInAnswers));
  const broken = (thrown: unknown): never => {
    // Protocol 2026-07-28 has no sessions: there, a 404 answers the request itself.
    const isGone = !hands.modern && isSessionGone(thrown);
    // A forgotten session or a lost server ends the link, so that the next call makes a new one.
    if (isGone || wasNotSent(thrown)) void close(messageOf(failureOf(thrown)));
    throw isGone ? sessionGone(name, thrown) : failureOf(thrown);
  };
  const tasks = taskLink(mux, name, hands.tasks);
  let declared: ReadonlyMap<string, readonly ParamHeader[]> = new Map();
  return {
    identity: shown(hands.identity),
    olderProtocolOnly: hands.olderProtocolOnly,
    hide: hideInAnswers,
    async listTools(signal) {
      const listed = await listTools(mux, name, hands.offered, signal).catch(broken);
      if (!hands.modern) return shown(listed);
      const { listing, headers } = takeParamHeaders(listed);
      declared = headers;
      return shown(listing);
    },
    listOffers: async (signal) => shown(await listOffers(mux, hands, signal)),
    watch: (uri) =>
      hands.watch(uri).catch((thrown: unknown) => Promise.reject(callFailure(name, failureOf(thrown), undefined))),
    async call(tool, args, options) {
      const repeated = declared.get(tool);
      const headers = repeated === undefined ? undefined : headersFor(repeated, args);
      try {
        return await callTool(mux, name, tool, args, { ...options, headers }, hands.tasks);
      } catch (thrown) {
        return broken(thrown);
      }
    },
    follow: (task, options) => tasks.follow(task, options).catch(broken),
    cancelTask: (task, options) => tasks.cancelTask(task, options).catch(broken),
    // Each request has its own connection: a slow one says nothing about the next.
    ping: async () => {},
    ended,
    close: () => close('It was closed.'),
  };
}

/** Tokens change, so they are taken out of texts by the one who knows them. */
function withTokens(filled: FilledValues, authorizer: Authorizer | undefined): FilledValues {
  if (authorizer === undefined) return filled;
  const { hide, hideInAnswers = (text) => text } = filled;
  return {
    ...filled,
    hide: (text) => authorizer.hide(hide(text)),
    hideInAnswers: (text) => authorizer.hide(hideInAnswers(text)),
  };
}

/** Sends the requests to the server's own host and port alone. */
function carrierOf(outbound: OutboundHttp, url: URL): HttpFetch {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return createGuardedFetch(outbound, [{ host: url.hostname, port }]);
}

/** Notifies the server that the session is over, when there is one, and closes every stream. */
async function farewell({ transport, terminate }: HttpWay): Promise<void> {
  const patience = new Promise<void>((resolve) => setTimeout(resolve, FAREWELL_TIMEOUT_MS).unref());
  await Promise.race([terminate().catch(() => {}), patience]);
  await transport.close();
}

function sessionGone(name: string, cause: unknown): ToolLayerError {
  return new ToolLayerError('E3310', `The upstream '${name}' no longer knows the session of the layer. Try again.`, {
    cause,
    details: { reached: false, session_gone: true },
  });
}

function startFailure(
  name: string,
  thrown: unknown,
  { failureOf, hide }: Pick<FilledValues, 'hide'> & Pick<HttpConnection, 'failureOf'>,
  { timeoutMs, signal }: OpenOptions & { readonly timeoutMs: number },
): ToolLayerError {
  const cause = thrown instanceof SdkError && thrown.cause !== undefined ? thrown.cause : thrown;
  for (const failure of [failureOf(thrown), failureOf(cause)]) if (failure instanceof ToolLayerError) return failure;
  if (signal.aborted || (thrown instanceof SdkError && thrown.code === 'REQUEST_TIMEOUT')) {
    return new ToolLayerError('E3306', `The upstream '${name}' did not answer within ${timeoutMs} ms.`, {
      cause: thrown,
    });
  }
  const text = hide(messageOf(thrown)).slice(0, TEXT_CHARS_MAX);
  return new ToolLayerError(
    'E3308',
    `The upstream '${name}' broke the protocol: ${text}. Is this the address of an MCP server?`,
    { cause: thrown },
  );
}
