import { setTimeout as sleep } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { STOP_SETTINGS } from '../domain/settings/server-settings.ts';
import { valuesOf } from '../domain/settings/setting.ts';
import { TRANSPORT_SETTINGS } from '../doors/mcp-transports/settings.ts';
import { REST_SETTINGS } from '../doors/rest/settings.ts';
import type { EmbeddedToolLayer } from './create-tool-layer.ts';
import { resourceOf } from './parts/from-settings/resource.ts';
import { openGateway } from './parts/gateway/open-gateway.ts';
import { openLocalSocket } from './running-layer/local-socket.ts';
import { removeRunningLayer, writeRunningLayer } from './running-layer/running-layer-file.ts';
import type { Settings } from './settings.ts';
import { VERSION } from './version.ts';

/** The open doors of a layer. */
export interface Server extends AsyncDisposable {
  /** Address without trailing slash; REST under `/v1`, MCP at `/mcp` and `/mcp/discovery`. */
  readonly url: string;
  /**
   * Reports that it is not ready, then takes no new requests and lets running ones end within `shutdown.grace_seconds`;
   * a request that runs longer ends with E3811 and is answered. The layer itself stays open. Idempotent.
   */
  close(): Promise<void>;
}

/** Addresses that only this machine can reach. */
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);

/**
 * Opens REST, the MCP gateway and the discovery server on one address.
 * @param address default: from the settings; `endsWithClient` shows other processes that it serves one client
 * @throws ToolLayerError E3900 when the address is not available; E3801 when tokens are not required and the address is
 *   open
 */
export async function serve(
  layer: EmbeddedToolLayer,
  address: { readonly host?: string; readonly port?: number; readonly endsWithClient?: boolean } = {},
): Promise<Server> {
  const { settings, log } = layer;
  const { host = settings['server.host'], port = settings['server.port'], endsWithClient = false } = address;
  if (settings['tokens.mode'] !== 'required' && !LOOPBACK.has(host)) {
    throw new ToolLayerError(
      'E3801',
      `tokens.mode is ${settings['tokens.mode']}, so the layer listens on loopback only, not on ${host}.`,
    );
  }
  // Loaded only when doors are opened, since an embedding program may never open any.
  const [{ createRestDoor }, { createDiscovery }, { mountMcp }, { openApiDocument }, doors] = await Promise.all([
    import('../doors/rest/create-rest-door.ts'),
    import('../doors/mcp-discovery/create-discovery.ts'),
    import('../doors/mcp-transports/http/mount-mcp.ts'),
    import('./openapi/openapi-document.ts'),
    import('../doors/protected-resource.ts'),
  ]);
  const resource = doors.createProtectedResource(resourceOf(settings));
  const socket = await openLocalSocket(settings['data_folder']);
  const rest = createRestDoor({
    layer,
    log,
    host,
    localSocket: socket.path,
    resource,
    openApi: () => openApiDocument(VERSION),
    settings: restSettings(settings),
  });
  const gateway = await openGateway(layer);
  const discovery = createDiscovery({ layer, log, version: VERSION });
  const mcp = {
    resource,
    log,
    onStop: rest.onStop,
    bodies: rest.bodies,
    settings: valuesOf(TRANSPORT_SETTINGS, settings),
  };
  const calls = { path: '/mcp', below: '/servers/:name', serverOf: gateway.serverOf };
  mountMcp(rest.app, { ...mcp, ...calls, direct: rest.direct });
  mountMcp(rest.app, { ...mcp, path: '/mcp/discovery', serverOf: () => discovery.server });
  const url = await rest.listen(port);
  const running = { url, pid: process.pid, socket: socket.path, endsWithClient };
  await writeRunningLayer(settings['data_folder'], running);
  // Not awaited: the check of the sandboxes takes longer than the rest of the start.
  const warned = layer.forServer.warnOfSandboxes();
  let closing: Promise<void> | undefined;
  const shut = async (): Promise<void> => {
    const drained = layer.forServer.drain();
    const noticeMs = valuesOf(STOP_SETTINGS, settings).noticeMs;
    if (noticeMs > 0) await sleep(noticeMs);
    await rest.close();
    await socket.close();
    // Until here running calls may still have asked their users.
    gateway.close();
    discovery.close();
    await removeRunningLayer(settings['data_folder']);
    await warned;
    drained();
  };
  const close = (): Promise<void> => {
    closing ??= shut();
    return closing;
  };
  return { url, close, [Symbol.asyncDispose]: close };
}

const restSettings = (settings: Settings) => ({
  ...valuesOf(REST_SETTINGS, settings),
  documentBytesMax: settings['server.body_bytes_max'] * 16,
});
