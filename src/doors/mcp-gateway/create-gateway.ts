import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import type { Log } from '../../telemetry/log.ts';
import { type ChangeBell, createChangeBell } from '../change-bell.ts';
import type { Era } from '../mcp-protocol.ts';
import {
  createMcpServer,
  type McpServer,
  type Method,
  type ServerIdentity,
  type Tell,
  type Watch,
} from '../mcp-server.ts';
import { capabilitiesIn, instructionsIn } from './introduction.ts';
import { metaMethods } from './methods/meta/meta-methods.ts';
import { LOG_LEVEL, toolMethods } from './methods/tool-methods.ts';
import { createToolShelf, type ToolShelf } from './methods/tool-shelf.ts';
import { MCP_DEFAULTS, type McpSettings, type ToolsMode } from './settings.ts';
import { type ModeRequest, toolsModeOf } from './tools-mode.ts';

/** The registered tools for MCP clients, in each way that a client may choose to see them (MOD-11). */
export interface Gateway {
  /** The server for clients that chose a mode; the settings choose for those that did not. */
  serverIn(mode?: ToolsMode): McpServer;
  /**
   * The server that an HTTP request asks for, by the query `tools` of its address or the header `Sallyport-Tools`.
   * @throws ToolLayerError E3801 for a mode that there is not
   */
  serverOf(request: ModeRequest): McpServer;
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
}

/** What the servers of all modes share. */
interface Shared extends Pick<GatewayParts, 'layer' | 'log'> {
  readonly settings: McpSettings;
  readonly identity: ServerIdentity;
  readonly shelf: ToolShelf;
  readonly bell: ChangeBell;
}

/** Builds the gateway; transports are mounted on its servers. */
export function createGateway({ layer, log, version, settings: given }: GatewayParts): Gateway {
  const settings = { ...MCP_DEFAULTS, ...given };
  const shelf = createToolShelf(layer, settings);
  const bell = createChangeBell(layer, settings.changesTogetherMs, () => shelf.clear());
  const shared = { layer, log, settings, shelf, bell, identity: { name: 'sallyport', title: 'Sallyport', version } };
  const servers: Readonly<Record<ToolsMode, McpServer>> = {
    all: serverFor('all', shared),
    meta: serverFor('meta', shared),
    auto: serverFor('auto', shared),
  };
  return {
    serverIn: (mode = settings.toolsMode) => servers[mode],
    serverOf: (request) => servers[toolsModeOf(request) ?? settings.toolsMode],
    close: bell.close,
  };
}

function serverFor(mode: ToolsMode, { layer, log, settings, shelf, bell, identity }: Shared): McpServer {
  const methods = (era: Era): readonly (readonly [string, Method])[] => {
    const parts = { layer, shelf, identity, era };
    const tools = toolMethods(parts);
    if (mode === 'all') return tools.methods;
    return metaMethods({ ...parts, mode, tools, inner: toolMethods({ ...parts, modelNames: true }), ...settings });
  };
  // Whoever sees all tools needs their list next anyway; for the others a token that is good is enough.
  const inspect = (caller: Caller) => layer.ask('token.inspect', {}, caller);
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
