import { holderIn } from '../../domain/principal/open-register.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Era } from '../mcp-protocol.ts';
import { createMcpServer, type McpServer } from '../mcp-server.ts';
import { createToolChanges } from '../tool-changes.ts';
import { createFingerprint } from './fingerprint.ts';
import { createReadResource } from './read-resource.ts';
import { resourceMethods } from './resource-methods.ts';
import { DISCOVERY_DEFAULTS, type DiscoverySettings } from './settings.ts';
import { createWatches } from './watches.ts';

/** The read-only MCP server that shows which tools exist and calls none (VIS-07). */
export interface Discovery {
  readonly server: McpServer;
  /** Ends the subscription to the layer; running requests continue. */
  close(): void;
}

/** Dependencies of the discovery server. */
export interface DiscoveryParts {
  readonly layer: ToolLayer;
  readonly log: Log;
  /** Version of the product, as shown to clients. */
  readonly version: string;
  readonly settings?: Partial<DiscoverySettings>;
}

const INSTRUCTIONS =
  'Resources say which tools the tenant has, which of them this agent may use, and why it may not use the others. ' +
  'Nothing can be called here; the gateway at /mcp calls tools.';

/** Builds the discovery server; transports are mounted on it. */
export function createDiscovery({ layer, log, version, settings: given }: DiscoveryParts): Discovery {
  const settings = { ...DISCOVERY_DEFAULTS, ...given };
  const identity = { name: 'sallyport-discovery', title: 'Sallyport tool discovery', version };
  const read = createReadResource(layer, settings.toolsPageSize);
  const inspect = (caller: Caller) => layer.ask('tokens.inspect', {}, caller);
  const holderOf = async (caller: Caller) => holderIn(await inspect(caller));
  const watches = createWatches({ fingerprint: createFingerprint(layer, read), holderOf, settings, log });
  const toolChanges = createToolChanges(layer, settings.changesTogetherMs, () => {});
  toolChanges.onChanged(watches.look);
  const methods = (era: Era) => resourceMethods({ layer, settings, read, identity, era });
  const capabilities = { resources: { subscribe: true, listChanged: true }, completions: {} };
  const server = createMcpServer({
    log,
    identity,
    introduce: async (caller) => {
      await inspect(caller);
      return { capabilities: { legacy: capabilities, modern: capabilities }, instructions: INSTRUCTIONS };
    },
    methods: { legacy: methods('legacy'), modern: methods('modern') },
    admit: inspect,
    inspect,
    watch: watches.open,
  });
  return {
    server,
    close: () => {
      toolChanges.close();
      watches.close();
    },
  };
}
