import { setTimeout as sleep } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { STOP_SETTINGS } from '../domain/settings/server-settings.ts';
import { valuesOf } from '../domain/settings/setting.ts';
import { TRANSPORT_SETTINGS } from '../doors/mcp-transports/settings.ts';
import { REST_SETTINGS } from '../doors/rest/settings.ts';
import type { EmbeddedToolLayer } from './create-tool-layer.ts';
import { resourceOf } from './parts/from-settings/resource.ts';
import { openGateway } from './parts/gateway/open-gateway.ts';
import { type DevelopmentServer, openDevelopmentServer } from './running-layer/development-server.ts';
import { openLocalSocket } from './running-layer/local-socket.ts';
import { removeRunningLayer, writeRunningLayer } from './running-layer/running-layer-file.ts';
import { LOOPBACK } from './settings/development-settings.ts';
import type { Settings } from './settings.ts';
import { VERSION } from './version.ts';

/** The open doors of a layer. */
export interface Server extends AsyncDisposable {
  /** Address without trailing slash; REST under `/v1`, MCP at `/mcp` and `/mcp/discovery`. */
  readonly url: string;
  /** The authorization server for development; absent where `auth.dev` is not set. */
  readonly development?: Pick<DevelopmentServer, 'loginCode' | 'loginCodeFile' | 'users'>;
  /**
   * Reports that it is not ready, then takes no new requests and lets running ones end within `shutdown.grace_seconds`;
   * a request that runs longer ends with E3811 and is answered. The layer itself stays open. Idempotent.
   */
  close(): Promise<void>;
}

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
  // A layer that serves one client listens on any free port, which tokens could not name.
  const authorizes = settings['auth.dev'] && !endsWithClient;
  checkAddress(settings, host, port, authorizes);
  // Loaded only when doors are opened, since an embedding program may never open any.
  const [{ createRestDoor }, { createDiscovery }, { mountMcp }, { openApiDocument }, doors] = await Promise.all([
    import('../doors/rest/create-rest-door.ts'),
    import('../doors/mcp-discovery/create-discovery.ts'),
    import('../doors/mcp-transports/http/mount-mcp.ts'),
    import('./openapi/openapi-document.ts'),
    import('../doors/protected-resource.ts'),
  ]);
  const resource = doors.createProtectedResource({ ...resourceOf(settings), proofNonce: layer.forServer.proofNonce });
  await using opened = new AsyncDisposableStack();
  const socket = opened.adopt(await openLocalSocket(settings['data_folder']), (each) => each.close());
  const rest = createRestDoor({
    layer,
    log,
    host,
    localSocket: socket.path,
    resource,
    openApi: () => openApiDocument(VERSION),
    settings: restSettings(settings),
  });
  const development = authorizes ? opened.use(await openDevelopmentServer(settings, rest, log)) : undefined;
  const discovery = opened.adopt(createDiscovery({ layer, log, version: VERSION }), (each) => each.close());
  // Closed after the requests have ended: until then running calls may still ask their users.
  const gateway = opened.adopt(await openGateway(layer), (each) => each.close());
  opened.defer(() => rest.close());
  const { onStop, bodies } = rest;
  const mcp = { resource, log, onStop, bodies, settings: valuesOf(TRANSPORT_SETTINGS, settings) };
  const calls = { path: '/mcp', below: '/servers/:name', serverOf: gateway.serverOf };
  mountMcp(rest.app, { ...mcp, ...calls, direct: rest.direct });
  mountMcp(rest.app, { ...mcp, path: '/mcp/discovery', serverOf: () => discovery.server });
  const url = await rest.listen(port);
  const running = { url, pid: process.pid, socket: socket.path, endsWithClient };
  await writeRunningLayer(settings['data_folder'], running);
  // Not awaited: the check of the sandboxes takes longer than the rest of the start.
  const warned = layer.forServer.warnOfSandboxes();
  const doorsOpen = opened.move();
  let closing: Promise<void> | undefined;
  const shut = async (): Promise<void> => {
    const drained = layer.forServer.drain();
    const noticeMs = valuesOf(STOP_SETTINGS, settings).noticeMs;
    if (noticeMs > 0) await sleep(noticeMs);
    await doorsOpen.disposeAsync();
    await removeRunningLayer(settings['data_folder'], socket.path);
    await warned;
    drained();
  };
  const close = (): Promise<void> => {
    closing ??= shut();
    return closing;
  };
  return { url, close, [Symbol.asyncDispose]: close, ...(development === undefined ? {} : { development }) };
}

/** @throws ToolLayerError E3801 for an address that the settings do not allow */
function checkAddress(settings: Settings, host: string, port: number, authorizes: boolean): void {
  const mode = settings['tokens.mode'];
  if (mode !== 'required' && !LOOPBACK.has(host))
    throw new ToolLayerError('E3801', `tokens.mode is ${mode}, so the layer listens on loopback only, not on ${host}.`);
  if (authorizes && (host !== settings['server.host'] || port !== settings['server.port']))
    throw new ToolLayerError(
      'E3801',
      'auth.dev is set, so the layer listens on server.host and server.port: its tokens name that address.',
    );
}

const restSettings = (settings: Settings) => ({
  ...valuesOf(REST_SETTINGS, settings),
  documentBytesMax: settings['server.body_bytes_max'] * 16,
});
