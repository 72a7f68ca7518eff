import { randomBytes } from 'node:crypto';
import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { FastifyInstance } from 'fastify';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { silentLog } from '../../telemetry/log.ts';
import { createGateway, type Gateway, type GatewayParts } from '../mcp-gateway/create-gateway.ts';
import { createProtectedResource } from '../protected-resource.ts';
import { createBodyBudget } from '../request-body.ts';
import { createRestDoor, type RestDoor, type RestDoorParts } from '../rest/create-rest-door.ts';
import { type McpEndpoint, mountMcp } from './http/mount-mcp.ts';

/** The doors as a resource without an authorization server. */
const resource = createProtectedResource({
  ...{ publicUrl: '', authorizationServers: [], scopes: [], toolScopes: [], mustBeBound: false },
  proofNonce: () => undefined,
});

/** A gateway whose upstreams report nothing and ask nobody, with what a test gives in place of that. */
export const openTestGateway = (layer: ToolLayer, parts: Partial<GatewayParts> = {}): Gateway =>
  createGateway({
    ...{ layer, log: silentLog, version: '0.1.0', stateKey: randomBytes(32) },
    signalOf: () => undefined,
    resourceUpdates: { watch: () => Promise.reject(new ToolLayerError('E3809', 'It reports no changes.')) },
    upstreamLogs: { listen: () => ({ [Symbol.dispose]() {} }) },
    ...parts,
  });

/** Mounts an MCP endpoint on a server without other doors. */
export const mountTestMcp = (
  app: FastifyInstance,
  endpoint: Pick<McpEndpoint, 'path' | 'serverOf'> & Partial<McpEndpoint>,
): void => mountMcp(app, { log: silentLog, resource, bodies: createBodyBudget(64 * MiB), onStop() {}, ...endpoint });

/** A REST door on this machine. */
export const openTestDoor = (layer: ToolLayer, parts: Partial<RestDoorParts> = {}): RestDoor =>
  createRestDoor({ layer, log: silentLog, openApi: () => ({}), host: '127.0.0.1', resource, ...parts });
