import { randomBytes } from 'node:crypto';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import type { Log } from '../../telemetry/log.ts';
import { type ChangeBell, createChangeBell } from '../change-bell.ts';
import type { Era } from '../mcp-protocol.ts';
import {
  createMcpServer,
  type McpServer,
  type Method,
  type Peer,
  type ServerIdentity,
  type Tell,
  type Watch,
} from '../mcp-server.ts';
import type { ClientConfirmations } from './client-confirmations.port.ts';
import { type ConfirmCalls, createConfirmCalls } from './confirmation/confirm-calls.ts';
import { capabilitiesIn, instructionsIn } from './introduction.ts';
import { metaMethods } from './methods/meta/meta-methods.ts';
import { LOG_LEVEL, toolMethods } from './methods/tool-methods.ts';
import { createToolShelf, type ToolShelf } from './methods/tool-shelf.ts';
import { MCP_DEFAULTS, type McpSettings, type ToolsMode } from './settings.ts';
import { type ModeRequest, toolsModeOf } from './tools-mode.ts';
import { createSuspendedCalls, type SuspendedCalls } from './upstream-questions/suspended-calls.ts';
import { createUpstreamAsker, type UpstreamAsker } from './upstream-questions/upstream-questions.ts';

/** The registered tools for MCP clients, in each way that a client may choose to see them (MOD-11). */
export interface Gateway {
  /** The server for clients that chose a mode; the settings choose for those that did not. */
  serverIn(mode?: ToolsMode): McpServer;
  /**
   * The server that an HTTP request asks for, by the query `tools` of its address or the header `Sallyport-Tools`.
   * @throws ToolLayerError E3801 for a mode that there is not
   */
  serverOf(request: ModeRequest): McpServer;
  /** Puts questions of upstreams to the users of clients; fits `createUpstreams({onElicitation})`. */
  readonly upstreamAsker: UpstreamAsker;
  /** Ends the subscription to the layer; requests that run go on. */
  close(): void;
}

/** What the gateway needs. */
export interface GatewayParts {
  readonly layer: ToolLayer;
  readonly log: Log;
  /** Version of the product, told to clients. */
  readonly version: string;
  readonly settings?: Partial<McpSettings>;
  /** Where the user at a client confirms calls; absent: nobody is asked at a client. */
  readonly confirmations?: ClientConfirmations;
  /** 32 bytes that sign what clients of the 2026 era carry; instances that share them understand each other. Default: random. */
  readonly stateKey?: Uint8Array;
  /** The signal of the caller of a call that runs, which says whose call it is; absent: upstreams ask nobody. */
  readonly signalOf?: (tenantId: string, invocationId: string) => AbortSignal | undefined;
}

/** What the servers of all modes share. */
interface Shared extends Pick<GatewayParts, 'layer' | 'log'> {
  readonly settings: McpSettings;
  readonly identity: ServerIdentity;
  readonly shelf: ToolShelf;
  readonly confirmCalls: ConfirmCalls;
  readonly suspendedCalls: SuspendedCalls;
  readonly peers: WeakMap<AbortSignal, Peer>;
  readonly bell: ChangeBell;
}

/** Builds the gateway; transports are mounted on its servers. */
export function createGateway({ layer, log, version, settings: given, ...parts }: GatewayParts): Gateway {
  const settings = { ...MCP_DEFAULTS, ...given };
  const shelf = createToolShelf(layer, settings);
  const bell = createChangeBell(layer, settings.changesTogetherMs, () => shelf.clear());
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
    shelf,
    bell,
    confirmCalls,
    suspendedCalls: createSuspendedCalls({ layer, settings }),
    identity: { name: 'sallyport', title: 'Sallyport', version },
  };
  const servers: Readonly<Record<ToolsMode, McpServer>> = {
    all: serverFor('all', shared),
    meta: serverFor('meta', shared),
    auto: serverFor('auto', shared),
  };
  return {
    serverIn: (mode = settings.toolsMode) => servers[mode],
    serverOf: (request) => servers[toolsModeOf(request) ?? settings.toolsMode],
    upstreamAsker: createUpstreamAsker({ log, peerOf }),
    close: bell.close,
  };
}

function serverFor(
  mode: ToolsMode,
  { layer, log, settings, shelf, bell, confirmCalls, suspendedCalls, peers, identity }: Shared,
): McpServer {
  const methods = (era: Era): readonly (readonly [string, Method])[] => {
    const parts = { layer, shelf, confirmCalls, suspendedCalls, peers, identity, era };
    const tools = toolMethods(parts);
    if (mode === 'all') return tools.methods;
    return metaMethods({ ...parts, mode, tools, inner: toolMethods({ ...parts, modelNames: true }), ...settings });
  };
  // Whoever sees all tools needs their list next anyway; for the others a token that is good is enough.
  const inspect = (caller: Caller) => layer.ask('tokens.inspect', {}, caller);
  const admit = (caller: Caller): Promise<unknown> => (mode === 'meta' ? inspect(caller) : shelf.list(caller));
  return createMcpServer({
    log,
    identity,
    capabilities: capabilitiesIn(mode),
    instructions: instructionsIn(mode),
    methods: { legacy: [LOG_LEVEL, ...methods('legacy')], modern: methods('modern') },
    admit,
    inspect,
    // The meta-tools never change.
    watch: async (wish, _caller, tell) =>
      watchTools({ shelf, bell, log }, mode !== 'meta' && wish['toolsListChanged'] === true, tell),
  });
}

/** Tells whoever listens when what they see changed: of the tools of others nothing is told, not even that they changed. */
function watchTools({ shelf, bell, log }: Pick<Shared, 'shelf' | 'bell' | 'log'>, granted: boolean, tell: Tell): Watch {
  let ringing: Disposable | undefined;
  const stop = (): void => {
    ringing?.[Symbol.dispose]();
    ringing = undefined;
  };
  const look = async (caller: Caller): Promise<string> => (await shelf.list(caller)).print();
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
        tell('notifications/tools/list_changed');
      };
      // A token that ran out sees nothing any more: there is nothing that could be told.
      ringing = bell.onRing(() => void lookAgain().catch((cause: unknown) => log.debug('mcp-look-failed', { cause })));
    },
    [Symbol.dispose]: stop,
  };
}
