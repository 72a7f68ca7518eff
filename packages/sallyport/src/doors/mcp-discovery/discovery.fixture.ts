import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { fastify } from 'fastify';
import type { VisibilityListRequest, VisibleTool } from '../../../api/schemas/visibility.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import { silentLog } from '../../telemetry/log.ts';
import { mountTestMcp } from '../mcp-transports/doors.fixture.ts';
import type { TransportSettings } from '../mcp-transports/settings.ts';
import { createLayerDouble, type LayerDouble, manifestOf } from '../tool-layer.fixture.ts';
import { createDiscovery } from './create-discovery.ts';
import type { DiscoverySettings } from './settings.ts';

/** The holders of the made-up tokens. */
export const HOLDERS = {
  agent: { tenant_id: 'acme', agent_did: 'did:example:a', roles: ['agent'] },
  'agent-b': { tenant_id: 'acme', agent_did: 'did:example:b', roles: ['agent'] },
  operator: { tenant_id: 'acme', agent_did: 'did:example:op', roles: ['operator'] },
  'agent-elsewhere': { tenant_id: 'globex', agent_did: 'did:example:a', roles: ['agent'] },
} as const;

type Token = keyof typeof HOLDERS;

/** Tools by tenant; a disabled tool is disabled for every agent. */
export type World = Map<string, Map<string, { description: string; disabled: boolean }>>;

/** A discovery server on a free port, on a layer in memory. */
export interface DiscoveryServer {
  readonly layer: LayerDouble;
  readonly world: World;
  readonly url: string;
  /** Closes the server with all its streams and sessions. */
  close(): Promise<void>;
  /** Connects a client of the official library. */
  client(options?: { token?: Token; auto?: boolean; onListChanged?: () => void }): Promise<Client>;
  /** Sends a POST request with the usual headers. */
  post(body: object, headers?: Record<string, string>): Promise<Response>;
}

export async function startDiscovery(
  settings: Partial<DiscoverySettings & TransportSettings> = {},
): Promise<DiscoveryServer> {
  const layer = createLayerDouble();
  const world: World = new Map([
    [
      'acme',
      new Map(['calendar', 'mail', 'search'].map((id) => [id, { description: `Does ${id}.`, disabled: false }])),
    ],
    ['globex', new Map([['launch', { description: 'Does launch.', disabled: false }]])],
  ]);
  answerFrom(world, layer);
  const app = fastify({ forceCloseConnections: true });
  const discovery = createDiscovery({ layer, log: silentLog, version: '0.1.0', settings });
  mountTestMcp(app, { path: '/mcp/discovery', serverOf: () => discovery.server, settings });
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp/discovery`;
  const clients: Client[] = [];
  return {
    layer,
    world,
    url,
    client: async ({ token = 'agent', auto = false, onListChanged } = {}) => {
      const changed = { onChanged: onListChanged ?? (() => {}), autoRefresh: false, debounceMs: 0 };
      const client = new Client(
        { name: 'test', version: '1.0.0' },
        {
          ...(auto ? { versionNegotiation: { mode: 'auto' as const } } : {}),
          ...(onListChanged === undefined ? {} : { listChanged: { resources: changed } }),
        },
      );
      clients.push(client);
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
      return client;
    },
    post: (body, headers = {}) =>
      fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: 'Bearer agent',
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      }),
    close: async () => {
      for (const client of clients) await client.close();
      await app.close();
      discovery.close();
    },
  };
}

function answerFrom(world: World, layer: LayerDouble): void {
  const holderOf = ({ token }: Caller) => HOLDERS[token as Token];
  const toolsOf = (caller: Caller) => world.get(holderOf(caller).tenant_id) ?? new Map();
  layer.answers.set('tokens.inspect', (_input, caller) => holderOf(caller));
  layer.answers.set('visibility.list', (input, caller) => {
    const { list, agent_did, page = 1, page_size = 200 } = input as VisibilityListRequest;
    const { agent_did: own, roles } = holderOf(caller);
    if (agent_did !== undefined && agent_did !== own && !roles.some((role) => role === 'operator')) {
      throw new ToolLayerError('E3213', 'To ask about another agent takes another role.');
    }
    const wanted = (disabled: boolean): boolean =>
      list === 'agent-enabled' ? !disabled : list === 'agent-unavailable' ? disabled : true;
    const all = [...toolsOf(caller)].filter(([, { disabled }]) => wanted(disabled)).toSorted();
    const tools = all
      .slice((page - 1) * page_size, page * page_size)
      .map(([id, { description }]) => visible(id, description, list === 'agent-unavailable'));
    return { tools, total_count: all.length, page, page_size };
  });
  layer.answers.set('tools.get', ({ tool_id, version = '1.0.0' }, caller) => {
    const tool = toolsOf(caller).get(tool_id);
    if (tool === undefined || tool.disabled) throw new ToolLayerError('E3001', 'There is no such tool.');
    if (version !== '1.0.0' && version !== '^1.0.0') throw new ToolLayerError('E3002', 'There is no such version.');
    const manifest = manifestOf(String(tool_id), { description: tool.description });
    return { manifest, content_hash: 'c0', state: 'active', versions: ['1.0.0'], registered_at: '', warnings: [] };
  });
}

function visible(name: string, description: string, lacking: boolean): VisibleTool {
  return {
    name,
    tool_id: name,
    version: '1.0.0',
    tool_name: name,
    description,
    tags: [],
    executor: 'native',
    side_effect_policy: 'irreversible',
    requires_confirmation: false,
    requires_approval: false,
    ...(lacking ? { why_unavailable: { code: 'disabled_for_agent', message: 'An operator disabled it.' } } : {}),
  };
}
