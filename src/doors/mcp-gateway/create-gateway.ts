// Hot path: every MCP request is answered from here, whatever transport it came by.
import { errorBody } from '../../domain/error/failure.ts';
import { failureOf } from '../../domain/error/tool-layer-error.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import type { Log } from '../../telemetry/log.ts';
import { createChangeBell } from './change-bell.ts';
import { errorAnswer, RPC, type RpcAnswer, type RpcId, type RpcRequest } from './json-rpc.ts';
import { protocolError } from './methods/call-result.ts';
import { handshakeMethods } from './methods/handshake-methods.ts';
import type { Method, Peer } from './methods/method.ts';
import { toolMethods } from './methods/tool-methods.ts';
import { createToolShelf } from './methods/tool-shelf.ts';
import type { Era } from './protocol.ts';
import { MCP_DEFAULTS, type McpSettings } from './settings.ts';

/** The part of the MCP door that knows no transport. */
export interface Gateway {
  readonly settings: McpSettings;
  readonly log: Log;
  /** Answers one request. Never throws. */
  answer(request: RpcRequest, peer: Peer): Promise<RpcAnswer>;
  /** Refuses a caller who may not even see the tools; undefined for one who may. */
  refuseCaller(id: RpcId | null, caller: Caller): Promise<RpcAnswer | undefined>;
  /** Tells, some time after the fact and once for many changes, that the tools changed; until disposed. */
  onToolsChanged(listener: () => void): Disposable;
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

/** Builds the gateway; transports are mounted on it. */
export function createGateway({ layer, log, version, settings: given }: GatewayParts): Gateway {
  const settings = { ...MCP_DEFAULTS, ...given };
  const shelf = createToolShelf(layer, settings);
  const bell = createChangeBell(layer, settings.changesTogetherMs, () => shelf.clear());
  const server = { name: 'sallyport', title: 'Sallyport', version };
  const methods: Readonly<Record<Era, ReadonlyMap<string, Method>>> = {
    legacy: new Map([...toolMethods(layer, shelf, server, 'legacy'), ...handshakeMethods(shelf, server, 'legacy')]),
    modern: new Map([...toolMethods(layer, shelf, server, 'modern'), ...handshakeMethods(shelf, server, 'modern')]),
  };
  const explain = (id: RpcId | null, thrown: unknown): RpcAnswer => {
    const failed = failureOf(thrown);
    if (failed.code === 'E3900') log.error('mcp-request-failed', { cause: thrown });
    return protocolError(id, errorBody(failed));
  };
  return {
    settings,
    log,
    answer: async (request, peer) => {
      const method = methods[peer.era].get(request.method);
      if (method === undefined) return unknownMethod(request, peer.era);
      try {
        return await method(request, peer);
      } catch (thrown) {
        return explain(request.id, thrown);
      }
    },
    refuseCaller: (id, caller) =>
      shelf.list(caller).then(
        () => undefined,
        (thrown) => explain(id, thrown),
      ),
    onToolsChanged: bell.onRing,
    close: bell.close,
  };
}

function unknownMethod(request: RpcRequest, era: Era): RpcAnswer {
  const message = `There is no method ${request.method.slice(0, 100)} here.`;
  return errorAnswer(request.id, RPC.methodNotFound, message, undefined, era === 'modern' ? 404 : undefined);
}
