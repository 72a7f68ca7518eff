import { randomBytes } from 'node:crypto';
import { systemClock } from '@sallyport/std/clock';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ClientAsker } from '../../domain/questions/client-question.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Era } from '../mcp-protocol.ts';
import {
  createMcpServer,
  type McpServer,
  type Method,
  type Notify,
  type ServerIdentity,
  type Watch,
} from '../mcp-server.ts';
import { createToolChanges, type ToolChanges } from '../tool-changes.ts';
import type { CallQuestions } from './call-questions.port.ts';
import type { ClientConfirmations } from './client-confirmations.port.ts';
import { type ConfirmCalls, createConfirmCalls } from './confirmation/confirm-calls.ts';
import { capabilitiesIn, instructionsIn } from './introduction.ts';
import { type CachedToolLists, createCachedToolLists } from './methods/cached-tool-lists.ts';
import { type ClientLogs, createClientLogs } from './methods/log-messages.ts';
import { metaMethods } from './methods/meta/meta-methods.ts';
import { toolMethods } from './methods/tool-methods.ts';
import { MCP_DEFAULTS, type McpSettings, type ToolsMode } from './settings.ts';
import { legacyTaskMethods, modernTaskMethods } from './tasks/task-methods.ts';
import type { TaskParts } from './tasks/task-parts.ts';
import { taskPeer } from './tasks/task-peer.ts';
import { withTasks } from './tasks/watch-tasks.ts';
import { type ModeRequest, toolsModeOf } from './tools-mode.ts';
import { type AskableClients, createAskableClients } from './upstream-questions/askable-clients.ts';
import { createClientAsker } from './upstream-questions/client-asker.ts';
import { createSuspendedRequests, type SuspendedRequests } from './upstream-questions/suspended-requests.ts';

/** The registered tools for MCP clients, in each mode that a client may choose (MOD-11). */
export interface Gateway {
  /** The server for clients that chose a mode; without one the settings choose. */
  serverIn(mode?: ToolsMode): McpServer;
  /**
   * The server that an HTTP request asks for, by the query `tools` of its address or the header `Sallyport-Tools`.
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
   * states. Default: random.
   */
  readonly stateKey?: Uint8Array;
  /** The caller's signal of a running call, which identifies the client; absent: no tool can ask anybody. */
  readonly signalOf?: (tenantId: string, invocationId: string) => AbortSignal | undefined;
  /** Questions of calls that run as tasks; absent: clients get no tasks. */
  readonly questions?: CallQuestions;
  /** How long results are kept after the end of a call, in ms; default: for good. */
  readonly resultsKeptMs?: number;
}

/** Parts that the servers of all modes share. */
interface Shared extends Pick<GatewayParts, 'layer' | 'log'> {
  readonly settings: McpSettings;
  readonly identity: ServerIdentity;
  readonly toolLists: CachedToolLists;
  readonly confirmCalls: ConfirmCalls;
  readonly suspended: SuspendedRequests;
  readonly clients: AskableClients;
  readonly logs: ClientLogs;
  readonly toolChanges: ToolChanges;
  readonly tasks: TaskParts | undefined;
}

/** Builds the gateway; transports are mounted on its servers. */
export function createGateway({ layer, log, version, settings: given, ...parts }: GatewayParts): Gateway {
  const settings = { ...MCP_DEFAULTS, ...given };
  const { confirmations, stateKey = randomBytes(32), signalOf, questions, resultsKeptMs } = parts;
  const toolLists = createCachedToolLists(layer, settings, questions !== undefined);
  const toolChanges = createToolChanges(layer, settings.changesTogetherMs, () => toolLists.clear());
  const clients = createAskableClients(signalOf);
  const asking = { stateKey, clients, ...(confirmations && { confirmations }) };
  const confirmCalls = createConfirmCalls({ layer, log, settings, ...asking });
  const tasks: TaskParts | undefined = questions && {
    ...{ layer, log, settings, toolLists, questions, confirmations, resultsKeptMs, clock: systemClock },
  };
  const shared = {
    clients,
    layer,
    log,
    settings,
    toolLists,
    toolChanges,
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
  return {
    serverIn: (mode = settings.toolsMode) => servers[mode],
    serverOf: (request) => servers[toolsModeOf(request) ?? settings.toolsMode],
    clientAsker: createClientAsker({
      log,
      // Nobody waits for the call of a task; its client answers questions later.
      peerOf: (tenantId, invocationId) =>
        clients.peerOf(tenantId, invocationId) ?? (tasks && taskPeer(tasks, { tenantId, invocationId })),
    }),
    close: toolChanges.close,
  };
}

function serverFor(
  mode: ToolsMode,
  { layer, log, settings, toolLists, toolChanges, confirmCalls, suspended, clients, logs, identity, tasks }: Shared,
): McpServer {
  const methods = (era: Era): readonly (readonly [string, Method])[] => {
    const parts = { layer, toolLists, confirmCalls, suspended, clients, logs, tasks, identity, era };
    const tools = toolMethods(parts);
    if (mode === 'all') return tools.methods;
    return metaMethods({ ...parts, mode, tools, inner: toolMethods({ ...parts, modelNames: true }), ...settings });
  };
  // In mode `all` the client needs the list next anyway; for the other modes a valid token is enough.
  const inspect = (caller: Caller) => layer.ask('tokens.inspect', {}, caller);
  const admit = (caller: Caller): Promise<unknown> => (mode === 'meta' ? inspect(caller) : toolLists.list(caller));
  return createMcpServer({
    log,
    identity,
    capabilities: capabilitiesIn(mode, tasks !== undefined),
    instructions: instructionsIn(mode),
    methods: {
      legacy: [logs.setLevel, ...methods('legacy'), ...(tasks === undefined ? [] : legacyTaskMethods(tasks))],
      modern: [...methods('modern'), ...(tasks === undefined ? [] : modernTaskMethods(tasks, identity))],
    },
    admit,
    inspect,
    // The meta-tools never change.
    watch: async (wish, caller, notify, can) => {
      const wanted = mode !== 'meta' && wish['toolsListChanged'] === true;
      const watch = watchTools({ toolLists, toolChanges, log }, wanted, notify);
      return tasks === undefined ? watch : withTasks(tasks, watch, { wish, caller, can }, notify);
    },
  });
}

/** Notifies a listener when the tools it sees changed. Changes of tools it does not see are not observable. */
function watchTools(
  { toolLists, toolChanges, log }: Pick<Shared, 'toolLists' | 'toolChanges' | 'log'>,
  granted: boolean,
  notify: Notify,
): Watch {
  let ringing: Disposable | undefined;
  const stop = (): void => {
    ringing?.[Symbol.dispose]();
    ringing = undefined;
  };
  const look = async (caller: Caller): Promise<string> => (await toolLists.list(caller)).print();
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
