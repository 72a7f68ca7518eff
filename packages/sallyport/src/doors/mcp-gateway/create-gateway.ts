import { randomBytes } from 'node:crypto';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Era } from '../mcp-protocol.ts';
import {
  createMcpServer,
  type McpServer,
  type Method,
  type Notify,
  type Peer,
  type ServerIdentity,
  type Watch,
} from '../mcp-server.ts';
import { createToolChanges, type ToolChanges } from '../tool-changes.ts';
import type { ClientConfirmations } from './client-confirmations.port.ts';
import { type ConfirmCalls, createConfirmCalls } from './confirmation/confirm-calls.ts';
import { capabilitiesIn, instructionsIn } from './introduction.ts';
import { type CachedToolLists, createCachedToolLists } from './methods/cached-tool-lists.ts';
import { metaMethods } from './methods/meta/meta-methods.ts';
import type { ToolPages } from './methods/tool-list.ts';
import { LOG_LEVEL, toolMethods, toolsOfServer } from './methods/tool-methods.ts';
import { serverNameIn } from './servers/server-address.ts';
import { MCP_DEFAULTS, type McpSettings, type ToolsMode } from './settings.ts';
import { type ModeRequest, toolsModeOf } from './tools-mode.ts';
import { createSuspendedCalls, type SuspendedCalls } from './upstream-questions/suspended-calls.ts';
import { createUpstreamAsker, type UpstreamAsker } from './upstream-questions/upstream-questions.ts';

/** The registered tools for MCP clients, in each mode that a client may choose (MOD-11). */
export interface Gateway {
  /** The server for clients that chose a mode; without one the settings choose. */
  serverIn(mode?: ToolsMode): McpServer;
  /** The server that shows one upstream, under the names that the upstream itself gives. */
  serverOfUpstream(name: string): McpServer;
  /**
   * The server that an HTTP request asks for, by the upstream in its path, else by the query `tools` of its address or
   * the header `Sallyport-Tools`.
   * @throws ToolLayerError E3801 for an unknown mode
   */
  serverOf(request: ModeRequest): McpServer;
  /** Puts questions of upstreams to the users of clients; fits `createUpstreams({onElicitation})`. */
  readonly upstreamAsker: UpstreamAsker;
  /** Ends the subscription to the layer; running requests continue. */
  close(): void;
}

/** Dependencies of the gateway. */
export interface GatewayParts {
  readonly layer: ToolLayer;
  readonly log: Log;
  /** Version of the product, as shown to clients. */
  readonly version: string;
  readonly settings?: Partial<McpSettings>;
  /** Confirmations by the user at a client; absent: no client is asked. */
  readonly confirmations?: ClientConfirmations;
  /**
   * 32 bytes that sign the state which clients of the 2026 era carry; instances that share them accept each other's
   * states. Default: random.
   */
  readonly stateKey?: Uint8Array;
  /** The caller's signal of a running call, which identifies the client; absent: upstreams cannot ask anybody. */
  readonly signalOf?: (tenantId: string, invocationId: string) => AbortSignal | undefined;
}

/** Parts that the servers of all modes share. */
interface Shared extends Pick<GatewayParts, 'layer' | 'log'> {
  readonly settings: McpSettings;
  readonly identity: ServerIdentity;
  readonly toolLists: CachedToolLists;
  readonly confirmCalls: ConfirmCalls;
  readonly suspendedCalls: SuspendedCalls;
  readonly peers: WeakMap<AbortSignal, Peer>;
  readonly toolChanges: ToolChanges;
}

/** Builds the gateway; transports are mounted on its servers. */
export function createGateway({ layer, log, version, settings: given, ...parts }: GatewayParts): Gateway {
  const settings = { ...MCP_DEFAULTS, ...given };
  const toolLists = createCachedToolLists(layer, settings);
  const toolChanges = createToolChanges(layer, settings.changesTogetherMs, () => toolLists.clear());
  const { confirmations, stateKey = randomBytes(32), signalOf } = parts;
  const confirmCalls = createConfirmCalls({ layer, log, settings, stateKey, ...(confirmations && { confirmations }) });
  const peers = new WeakMap<AbortSignal, Peer>();
  const peerOf = (tenantId: string, invocationId: string): Peer | undefined => {
    const signal = signalOf?.(tenantId, invocationId);
    return confirmCalls.peerOf(tenantId, invocationId) ?? (signal === undefined ? undefined : peers.get(signal));
  };
  const shared = {
    peers,
    layer,
    log,
    settings,
    toolLists,
    toolChanges,
    confirmCalls,
    suspendedCalls: createSuspendedCalls({ layer, settings }),
    identity: { name: 'sallyport', title: 'Sallyport', version },
  };
  const servers: Readonly<Record<ToolsMode, McpServer>> = {
    all: serverFor('all', shared),
    meta: serverFor('meta', shared),
    auto: serverFor('auto', shared),
  };
  const serverOfUpstream = (name: string): McpServer => serverFor('all', shared, name);
  return {
    serverIn: (mode = settings.toolsMode) => servers[mode],
    serverOfUpstream,
    serverOf: (request) => {
      const upstream = serverNameIn(request.url);
      return upstream === undefined ? servers[toolsModeOf(request) ?? settings.toolsMode] : serverOfUpstream(upstream);
    },
    upstreamAsker: createUpstreamAsker({ log, peerOf }),
    close: toolChanges.close,
  };
}

/** @param upstream shown alone; absent: all tools */
function serverFor(
  mode: ToolsMode,
  { layer, log, settings, toolLists, toolChanges, confirmCalls, suspendedCalls, peers, identity }: Shared,
  upstream?: string,
): McpServer {
  const of = upstream === undefined ? {} : { upstream };
  const methods = (era: Era): readonly (readonly [string, Method])[] => {
    const parts = { layer, toolLists, confirmCalls, suspendedCalls, peers, identity, era, ...of };
    const tools = toolMethods(parts);
    if (mode === 'all') return tools.methods;
    return metaMethods({ ...parts, mode, tools, inner: toolMethods({ ...parts, modelNames: true }), ...settings });
  };
  // In mode `all` the client needs the list next anyway; for the other modes a valid token is enough.
  const inspect = (caller: Caller) => layer.ask('tokens.inspect', {}, caller);
  const look = async (caller: Caller): Promise<ToolPages> => {
    const all = await toolLists.list(caller);
    return upstream === undefined ? all : toolsOfServer(all, upstream);
  };
  const admit = (caller: Caller): Promise<unknown> => (mode === 'meta' ? inspect(caller) : look(caller));
  return createMcpServer({
    log,
    identity,
    capabilities: capabilitiesIn(mode),
    instructions: instructionsIn(mode),
    methods: { legacy: [LOG_LEVEL, ...methods('legacy')], modern: methods('modern') },
    admit,
    inspect,
    // The meta-tools never change.
    watch: async (wish, _caller, notify) =>
      watchTools({ look, toolChanges, log }, mode !== 'meta' && wish['toolsListChanged'] === true, notify),
  });
}

/** Notifies a listener when the tools it sees changed. Changes of tools it does not see are not observable. */
function watchTools(
  {
    look: lookAt,
    toolChanges,
    log,
  }: Pick<Shared, 'toolChanges' | 'log'> & { readonly look: (caller: Caller) => Promise<ToolPages> },
  granted: boolean,
  notify: Notify,
): Watch {
  let ringing: Disposable | undefined;
  const stop = (): void => {
    ringing?.[Symbol.dispose]();
    ringing = undefined;
  };
  const look = async (caller: Caller): Promise<string> => (await lookAt(caller)).print();
  return {
    granted: granted ? { toolsListChanged: true } : {},
    listen: async (caller) => {
      stop();
      if (!granted || caller === undefined) return;
      let seen = await look(caller);
      const lookAgain = async (): Promise<void> => {
        const now = await look(caller);
        if (now === seen) return;
        seen = now;
        notify('notifications/tools/list_changed');
      };
      // An expired token sees nothing: there is nothing to report.
      ringing = toolChanges.onChanged(
        () => void lookAgain().catch((cause: unknown) => log.debug('mcp-look-failed', { cause })),
      );
    },
    [Symbol.dispose]: stop,
  };
}
