import { systemClock } from '@sallyport/std/clock';
import { createOpenRegister, type OpenRegister } from '../../domain/principal/open-register.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ClientAsker } from '../../domain/questions/client-question.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Era } from '../mcp-protocol.ts';
import { createMcpServer, type McpServer, type Method, type ServerIdentity } from '../mcp-server.ts';
import { serverNameIn } from '../protected-resource.ts';
import { createToolChanges, type ToolChanges } from '../tool-changes.ts';
import type { CallQuestions } from './call-questions.port.ts';
import type { ClientConfirmations } from './client-confirmations.port.ts';
import { type ConfirmCalls, createConfirmCalls } from './confirmation/confirm-calls.ts';
import { capabilitiesIn, instructionsIn } from './introduction.ts';
import { type CachedToolLists, createCachedToolLists } from './methods/cached-tool-lists.ts';
import { type ClientLogs, createClientLogs } from './methods/log-messages.ts';
import { metaMethods } from './methods/meta/meta-methods.ts';
import { withSessionLogs } from './methods/session-logs.ts';
import type { ListedTools } from './methods/tool-list.ts';
import { toolMethods, toolsOfServer } from './methods/tool-methods.ts';
import type { ResourceUpdates } from './resource-updates.port.ts';
import { type CachedOffers, createCachedOffers } from './servers/cached-offers.ts';
import { gatewayWatch, type WatchedList } from './servers/gateway-watch.ts';
import { instructionsOfAll, introduceServer } from './servers/introduce.ts';
import { offerMethods } from './servers/offer-methods.ts';
import { offerPages, type ShowOffers, serverAt } from './servers/offer-pages.ts';
import { watchedByClient } from './servers/watched-by-client.ts';
import { MCP_DEFAULTS, type McpSettings, type ToolsMode } from './settings.ts';
import { legacyTaskMethods, modernTaskMethods } from './tasks/task-methods.ts';
import type { TaskParts } from './tasks/task-parts.ts';
import { taskPeer } from './tasks/task-peer.ts';
import { withTasks } from './tasks/watch-tasks.ts';
import { type ModeRequest, toolsModeOf } from './tools-mode.ts';
import type { UpstreamLogs } from './upstream-logs.port.ts';
import { type AskableClients, createAskableClients } from './upstream-questions/askable-clients.ts';
import { createClientAsker } from './upstream-questions/client-asker.ts';
import { createOpenedLinks, type OpenedLinks } from './upstream-questions/opened-links.ts';
import { createSuspendedRequests, type SuspendedRequests } from './upstream-questions/suspended-requests.ts';

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
  /** Puts questions of upstreams and tools to the clients of their calls. */
  readonly clientAsker: ClientAsker;
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
   * states.
   */
  readonly stateKey: Uint8Array;
  /** The caller's signal of a running call, which identifies the client. */
  readonly signalOf: (tenantId: string, invocationId: string) => AbortSignal | undefined;
  /** Changes of the resources of upstreams. */
  readonly resourceUpdates: ResourceUpdates;
  /** Log messages of upstreams that belong to no call. */
  readonly upstreamLogs: UpstreamLogs;
  /** Questions of calls that run as tasks; absent: clients get no tasks. */
  readonly questions?: CallQuestions;
  /** How long results are kept after the end of a call, in ms; default: for good. */
  readonly resultsKeptMs?: number;
}

/** Parts that the servers of all modes share. */
interface Shared extends Pick<GatewayParts, 'layer' | 'log' | 'resourceUpdates' | 'upstreamLogs'> {
  readonly settings: McpSettings;
  readonly identity: ServerIdentity;
  readonly offers: CachedOffers;
  readonly show: ShowOffers;
  readonly toolLists: CachedToolLists;
  readonly confirmCalls: ConfirmCalls;
  readonly suspended: SuspendedRequests;
  readonly clients: AskableClients;
  readonly logs: ClientLogs;
  readonly links: OpenedLinks;
  readonly toolChanges: ToolChanges;
  /** Counts the watched resources of all clients. */
  readonly watchedResources: OpenRegister;
  readonly tasks: TaskParts | undefined;
}

/** Most resources watched by all clients together, by those of a tenant, and by those of one agent and user. */
const WATCHED_BOUNDS = { max: 5_000, perTenantMax: 2_500, perHolderMax: 1_000 };

/** Builds the gateway; transports are mounted on its servers. */
export function createGateway({ layer, log, version, settings: given, ...parts }: GatewayParts): Gateway {
  const settings = { ...MCP_DEFAULTS, ...given };
  const { confirmations, stateKey, signalOf, resourceUpdates, upstreamLogs, questions, resultsKeptMs } = parts;
  const offers = createCachedOffers(layer, settings);
  const toolLists = createCachedToolLists(layer, settings, offers, questions !== undefined);
  const toolChanges = createToolChanges(layer, settings.changesTogetherMs, () => {
    offers.clear();
    toolLists.clear();
  });
  const clients = createAskableClients(signalOf);
  const links = createOpenedLinks();
  const asking = { stateKey, clients, ...(confirmations && { confirmations }) };
  const confirmCalls = createConfirmCalls({ layer, log, settings, ...asking });
  const tasks: TaskParts | undefined = questions && {
    ...{ layer, log, settings, toolLists, links, questions, confirmations, resultsKeptMs, clock: systemClock },
  };
  const shared: Shared = {
    clients,
    links,
    layer,
    log,
    settings,
    toolLists,
    toolChanges,
    offers,
    show: offerPages(settings.toolsPageSize),
    resourceUpdates,
    upstreamLogs,
    watchedResources: createOpenRegister('watched resources', WATCHED_BOUNDS),
    tasks,
    confirmCalls,
    suspended: createSuspendedRequests({ layer, settings }),
    logs: createClientLogs(),
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
    clientAsker: createClientAsker({
      log,
      links,
      // Nobody waits for the call of a task; its client answers questions later.
      peerOf: (tenantId, invocationId) =>
        clients.peerOf(tenantId, invocationId) ?? (tasks && taskPeer(tasks, { tenantId, invocationId })),
    }),
    close: toolChanges.close,
  };
}

/** @param upstream shown alone; absent: all tools */
function serverFor(mode: ToolsMode, shared: Shared, upstream?: string): McpServer {
  const { layer, log, settings, toolLists, identity, offers, show, logs, tasks } = shared;
  const of = upstream === undefined ? {} : { upstream };
  const methods = (era: Era): readonly (readonly [string, Method])[] => {
    const parts = { ...shared, era, ...of };
    const tools = toolMethods(parts);
    const others = offerMethods({ offers, show, era, tools, ...of });
    if (mode === 'all') return [...tools.methods, ...others];
    const inner = toolMethods({ ...parts, modelNames: true });
    return [...metaMethods({ ...parts, mode, tools, inner, ...settings }), ...others];
  };
  // In mode `all` the client needs the list next anyway; for the other modes a valid token is enough.
  const inspect = (caller: Caller) => layer.ask('tokens.inspect', {}, caller);
  const look = async (caller: Caller): Promise<ListedTools> => {
    const all = await toolLists.list(caller);
    return upstream === undefined ? all : toolsOfServer(all, upstream);
  };
  const admit = (caller: Caller): Promise<unknown> => (mode === 'meta' ? inspect(caller) : look(caller));
  return createMcpServer({
    log,
    identity,
    introduce: async (caller) => {
      await admit(caller);
      const seen = await offers.of(caller);
      if (upstream !== undefined) return introduceServer(serverAt(seen, upstream), tasks !== undefined);
      return {
        capabilities: capabilitiesIn(mode, tasks !== undefined),
        instructions: instructionsIn(mode) + instructionsOfAll(seen),
      };
    },
    methods: {
      legacy: [logs.setLevel, ...methods('legacy'), ...(tasks === undefined ? [] : legacyTaskMethods(tasks))],
      modern: [...methods('modern'), ...(tasks === undefined ? [] : modernTaskMethods(tasks, identity))],
    },
    admit,
    inspect,
    watch: shared.links.watching(
      withSessionLogs(
        { ...shared, upstream },
        watchingTasks(
          tasks,
          gatewayWatch({
            lists: watchedLists(mode, shared, look, upstream),
            toolChanges: shared.toolChanges,
            log,
            resources: (notify) =>
              watchedByClient({
                ...{ layer, log, offers, upstream, notify },
                updates: shared.resourceUpdates,
                register: shared.watchedResources,
              }),
          }),
        ),
      ),
    ),
  });
}

/** Adds the notifications of tasks to those of the lists. */
function watchingTasks(tasks: TaskParts | undefined, watchLists: McpServer['watch']): McpServer['watch'] {
  if (tasks === undefined) return watchLists;
  return async (wish, caller, notify, can) =>
    withTasks(tasks, await watchLists(wish, caller, notify, can), { wish, caller, can }, notify);
}

function watchedLists(
  mode: ToolsMode,
  { offers, show }: Pick<Shared, 'offers' | 'show'>,
  look: (caller: Caller) => Promise<ListedTools>,
  upstream: string | undefined,
): readonly WatchedList[] {
  const pages = async (caller: Caller) => show(await offers.of(caller), upstream);
  const tools: WatchedList = {
    wish: 'toolsListChanged',
    notification: 'notifications/tools/list_changed',
    look: async (caller) => (await look(caller)).pages(true).print(),
  };
  return [
    // The meta-tools never change.
    ...(mode === 'meta' ? [] : [tools]),
    {
      wish: 'resourcesListChanged',
      notification: 'notifications/resources/list_changed',
      look: async (caller) => {
        const { resources, templates } = await pages(caller);
        return resources.print() + templates.print();
      },
    },
    {
      wish: 'promptsListChanged',
      notification: 'notifications/prompts/list_changed',
      look: async (caller) => (await pages(caller)).prompts.print(),
    },
  ];
}
