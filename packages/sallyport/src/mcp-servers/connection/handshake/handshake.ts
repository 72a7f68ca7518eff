import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Client,
  PROTOCOL_VERSION_META_KEY,
  type SubscriptionFilter,
} from '@modelcontextprotocol/client';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../../domain/shape/is-object.ts';
import { UI_EXTENSION, UI_MIME_TYPE } from '../../../domain/tool/mcp-apps.ts';
import type { ServerIdentity } from '../link.ts';
import type { Multiplexer } from '../multiplexer.ts';
import { TASKS_EXTENSION, type TaskForm } from '../tasks/task-form.ts';
import { endIgnoredProbe } from './ignored-probe.ts';

/** Time of a start that is left for the older protocol, ms, where the server leaves the probe for the newer one unanswered. */
const OLDER_MS = 5_000;
/** Several change notices within this time count as one, ms. */
const LIST_CHANGED_DEBOUNCE_MS = 100;
/** Longest wait for a 2026-07-28 server to acknowledge `subscriptions/listen`; after it the upstream is used without change notices. */
const LISTEN_PATIENCE_MS = 2_000;
const NAME_CHARS_MAX = 200;
const CAPABILITIES_MAX = 32;

/** A connection after its handshake. */
export interface Handshake {
  readonly identity: ServerIdentity;
  /** The capabilities that the server declares. */
  readonly offered: Readonly<Record<string, unknown>>;
  /** What the server says of its use; undefined when it says nothing. */
  readonly instructions: string | undefined;
  /** The form in which the server runs calls as tasks; undefined when it does not. */
  readonly tasks: TaskForm | undefined;
  /** True when protocol 2026-07-28 or later was agreed. */
  readonly modern: boolean;
  readonly olderProtocolOnly: boolean;
  /** Subscribes to the changes of a resource. @throws E3809 when the server does not report them */
  watch(uri: string): Promise<AsyncDisposable>;
}

/** Inputs of a handshake. */
export interface HandshakeOptions {
  readonly client: { readonly name: string; readonly version: string };
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly olderProtocolOnly: boolean;
  /** True when every request has an answer, as over HTTP: then the probe may take as long as the handshake. */
  readonly alwaysAnswers?: boolean;
  onToolsChanged(): void;
  /** Called when the server says that its resources or prompts changed. */
  onOffersChanged(): void;
  /** Called when the server says that a watched resource changed. */
  onResourceUpdated(uri: string): void;
  onError(error: Error): void;
}

/**
 * Connects with the official client: protocol 2026-07-28 when the server supports it, else `initialize`. The client
 * declares the questions that the operator allows this server to ask, and that user interfaces of tools (MCP Apps) are
 * passed on.
 */
export async function shakeHands(mux: Multiplexer, options: HandshakeOptions): Promise<Handshake> {
  const capabilities = {
    extensions: { [UI_EXTENSION]: { mimeTypes: [UI_MIME_TYPE] } },
    ...mux.questions.capabilities(),
  };
  const client = new Client(options.client, {
    capabilities,
    versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeTimeoutOf(options) } },
  });
  client.onerror = options.onError;
  receiveChanges(client, options);
  await connect(client, mux, options);
  const protocolVersion = client.getNegotiatedProtocolVersion();
  const modern = client.getProtocolEra() === 'modern';
  const offered = client.getServerCapabilities() ?? {};
  mux.agree(
    modern
      ? {
          [PROTOCOL_VERSION_META_KEY]: protocolVersion,
          [CLIENT_INFO_META_KEY]: options.client,
          [CLIENT_CAPABILITIES_META_KEY]: capabilities,
        }
      : undefined,
    offered.logging !== undefined,
  );
  if (modern && Object.keys(wishFor(client)).length > 0) await listen(client, options);
  const server = client.getServerVersion();
  return {
    identity: {
      capabilities: Object.keys(offered)
        .sort()
        .slice(0, CAPABILITIES_MAX)
        .map((name) => cut(name, NAME_CHARS_MAX)),
      ...(protocolVersion === undefined ? {} : { protocolVersion }),
      ...(server === undefined
        ? {}
        : { server: { name: cut(server.name, NAME_CHARS_MAX), version: cut(server.version, NAME_CHARS_MAX) } }),
    },
    offered,
    instructions: client.getInstructions(),
    tasks: taskFormOf(offered, modern),
    modern,
    olderProtocolOnly: options.olderProtocolOnly || (!modern && !mux.probeAnswered()),
    watch: watchResources(client, options.timeoutMs),
  };
}

async function connect(client: Client, mux: Multiplexer, options: HandshakeOptions): Promise<void> {
  const { timeoutMs: timeout, signal, olderProtocolOnly, alwaysAnswers = false } = options;
  const over = new AbortController();
  if (!olderProtocolOnly && !alwaysAnswers) void endIgnoredProbe(mux, timeout, AbortSignal.any([signal, over.signal]));
  try {
    await client.connect(mux.control, {
      timeout,
      signal,
      ...(olderProtocolOnly ? { prior: { kind: 'legacy' } } : {}),
    });
  } finally {
    over.abort();
  }
}

/** In 2026-07-28 tasks are an extension; in 2025-11-25 a capability. */
function taskFormOf(offered: Readonly<Record<string, unknown>>, modern: boolean): TaskForm | undefined {
  const { extensions, tasks } = offered;
  if (modern) return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]) ? 'modern' : undefined;
  const requests = isObject(tasks) ? tasks['requests'] : undefined;
  const ofTools = isObject(requests) ? requests['tools'] : undefined;
  return isObject(ofTools) && ofTools['call'] !== undefined ? 'legacy' : undefined;
}

/** A stdio server reads the probe once it has started, so that may take nearly as long as its start. */
const probeTimeoutOf = ({ alwaysAnswers = false, timeoutMs }: HandshakeOptions): number =>
  alwaysAnswers ? timeoutMs : Math.max(timeoutMs / 2, timeoutMs - OLDER_MS);

/** Lists whose changes a server may announce: the capability, and the notification. */
const LISTS = {
  tools: 'notifications/tools/list_changed',
  resources: 'notifications/resources/list_changed',
  prompts: 'notifications/prompts/list_changed',
} as const;
type ListName = keyof typeof LISTS;

const announcesChanges = (client: Client, list: ListName): boolean =>
  client.getServerCapabilities()?.[list]?.listChanged === true;

function receiveChanges(client: Client, { onToolsChanged, onOffersChanged, onResourceUpdated }: HandshakeOptions) {
  const offersChanged = together(onOffersChanged);
  const changed = { tools: together(onToolsChanged), resources: offersChanged, prompts: offersChanged };
  for (const list of ['tools', 'resources', 'prompts'] as const) {
    client.setNotificationHandler(LISTS[list], () => {
      if (announcesChanges(client, list)) changed[list]();
    });
  }
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => onResourceUpdated(params.uri));
}

/** Reports several changes within a moment once. */
function together(onChanged: () => void): () => void {
  let waiting: NodeJS.Timeout | undefined;
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(onChanged, LIST_CHANGED_DEBOUNCE_MS).unref();
  };
}

/** Makes what subscribes to one resource, by the protocol that was agreed. */
function watchResources(client: Client, timeout: number): (uri: string) => Promise<AsyncDisposable> {
  /** Ends of subscriptions without an answer: a server may read one after a subscription that was sent later. */
  const leaving = new Map<string, Promise<unknown>>();
  const leave = async (uri: string): Promise<void> => {
    const left = client.unsubscribeResource({ uri }, { timeout }).catch(() => undefined);
    leaving.set(uri, left);
    await left;
    if (leaving.get(uri) === left) leaving.delete(uri);
  };
  return async (uri) => {
    if (client.getServerCapabilities()?.resources?.subscribe !== true) throw notWatched(uri);
    if (client.getProtocolEra() !== 'modern') {
      await leaving.get(uri);
      await client.subscribeResource({ uri }, { timeout });
      return { [Symbol.asyncDispose]: () => leave(uri) };
    }
    const subscription = await client.listen({ resourceSubscriptions: [uri] }, { timeout });
    if (subscription.honoredFilter.resourceSubscriptions?.includes(uri) === true)
      return { [Symbol.asyncDispose]: () => subscription.close() };
    await subscription.close();
    throw notWatched(uri);
  };
}

function notWatched(uri: string): ToolLayerError {
  return new ToolLayerError(
    'E3809',
    `The server does not report changes of the resource ${JSON.stringify(uri.slice(0, 200))}.`,
  );
}

/**
 * Subscribes to the server's change notices (2026-07-28). A server that does not answer is used all the same: after a
 * late answer the tools are listed again, since they may have changed in between; without an answer they are listed
 * again from time to time.
 */
async function listen(
  client: Client,
  { timeoutMs, signal, onToolsChanged, onOffersChanged, onError }: HandshakeOptions,
): Promise<void> {
  signal.throwIfAborted();
  const changedMeanwhile = (): void => {
    onToolsChanged();
    onOffersChanged();
  };
  const begun = client.listen(wishFor(client), { timeout: Math.max(timeoutMs, LISTEN_PATIENCE_MS) });
  let isLate = false;
  const answered = begun.then(
    () => (isLate ? changedMeanwhile() : undefined),
    (thrown: unknown) => onError(thrown instanceof Error ? thrown : new Error(String(thrown))),
  );
  const patience = AbortSignal.any([signal, AbortSignal.timeout(LISTEN_PATIENCE_MS)]);
  const over = new Promise<void>((resolve) => patience.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([answered, over]);
  isLate = true;
}

function wishFor(client: Client): SubscriptionFilter {
  return {
    ...(announcesChanges(client, 'tools') ? { toolsListChanged: true } : {}),
    ...(announcesChanges(client, 'resources') ? { resourcesListChanged: true } : {}),
    ...(announcesChanges(client, 'prompts') ? { promptsListChanged: true } : {}),
  };
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : text.slice(0, chars);
}
