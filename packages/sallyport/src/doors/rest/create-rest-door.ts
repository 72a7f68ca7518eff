import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { type FastifyInstance, fastify } from 'fastify';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import type { Log } from '../../telemetry/log.ts';
import type { ProtectedResource } from '../protected-resource.ts';
import { type BodyBudget, createBodyBudget } from '../request-body.ts';
import { createDirectPosts, type DirectPosts } from './direct-posts.ts';
import { addInvocationStream } from './invocation-stream.ts';
import { closeLocally, listenLocally } from './local-server.ts';
import { answerClientError } from './misuse/client-error.ts';
import { createCrossOrigin } from './misuse/cross-origin.ts';
import { answerFrameworkError, refuseMisuse } from './misuse/refuse-misuse.ts';
import { createRequestGuard } from './misuse/request-guard.ts';
import { createOpenRequests, layerStops, type OpenRequests } from './open-requests.ts';
import { addDirectInvocation, addOperationRoutes } from './operation-routes.ts';
import { addOwnRoutes } from './own-routes/own-routes.ts';
import { sendProblem } from './reply.ts';
import { REST_DEFAULTS, type RestSettings } from './settings.ts';

/** Dependencies of the door. */
export interface RestDoorParts {
  readonly layer: ToolLayer;
  readonly log: Log;
  /** Makes the document at `/openapi.json`, on first request. */
  readonly openApi: () => object;
  /** Address to bind; with a loopback address the `Host` header is checked. */
  readonly host: string;
  /**
   * Path of an additional unix socket, in a folder that only its owner can access: callers there have operator rights.
   */
  readonly localSocket?: string;
  /** Description of the door for OAuth clients. */
  readonly resource: ProtectedResource;
  readonly settings?: Partial<RestSettings>;
}

/** REST, with one route per operation, and the HTTP server that other doors mount in. */
export interface RestDoor {
  /** Other doors add their routes here before `listen`. */
  readonly app: FastifyInstance;
  /** Other doors add their framework-free POST routes here. */
  readonly direct: DirectPosts;
  /** Room for the bodies of all requests together. */
  readonly bodies: BodyBudget;
  /** Calls back when the door begins to stop; long-lived streams end then. */
  readonly onStop: OpenRequests['onStop'];
  /**
   * Starts to listen.
   * @param port 0 for any free one
   * @returns address as a URL without trailing slash, for example http://127.0.0.1:7070
   * @throws ToolLayerError E3900 when the address cannot be bound; the message says why and what to change
   */
  listen(port: number): Promise<string>;
  /**
   * Refuses new requests with E3811 and lets running ones finish within `closeGraceMs`; those still running then are
   * ended and answered with E3811. The connections close after that. Idempotent.
   */
  close(): Promise<void>;
}

/** Builds the door; nothing listens yet. */
export function createRestDoor(parts: RestDoorParts): RestDoor {
  const settings = { ...REST_DEFAULTS, ...parts.settings };
  const { host, resource } = parts;
  const app = createApp(settings, resource);
  const guard = createRequestGuard(host, settings);
  const refuse = refuseMisuse(app, guard, resource, parts.log);
  const requests = createOpenRequests((response) => sendProblem(response, layerStops(), resource));
  const passes = (request: IncomingMessage): boolean => guard(request) === undefined;
  const crossOrigin = createCrossOrigin(settings.allowedOrigins, passes);
  const admit: typeof requests.admit = (request, response) => {
    if (request.headers['dpop'] !== undefined) bringNonce(response, resource);
    return !crossOrigin(request, response) && requests.admit(request, response);
  };
  const direct = createDirectPosts(app, admit, passes);
  const bodies = createBodyBudget(settings.bodiesBytesMax);
  addOperationRoutes(app, parts.layer, resource, settings, bodies);
  addDirectInvocation(direct, parts.layer, resource, settings, refuse, bodies);
  addInvocationStream(app, parts.layer, settings, requests.onStop);
  addOwnRoutes(app, parts.layer, parts.openApi, resource);

  let local: Server | undefined;
  const close = async (): Promise<void> => {
    await requests.stop(settings);
    if (local !== undefined) await closeLocally(local);
    await app.close();
  };
  let closing: Promise<void> | undefined;
  return {
    app,
    direct,
    bodies,
    onStop: requests.onStop,
    listen: async (port) => {
      await app.ready();
      if (parts.localSocket !== undefined) local = await listenLocally(app, parts.localSocket, settings);
      await listenOn(app, host, port).catch(async (thrown: unknown) => {
        if (local !== undefined) await closeLocally(local);
        throw thrown;
      });
      app.server.maxConnections = settings.connectionsMax;
      const { address, port: bound, family } = app.server.address() as AddressInfo;
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** A client that proves its key uses the latest nonce (RFC 9449 §8.2), whatever the answer says otherwise. */
function bringNonce(response: ServerResponse, { proofNonce }: ProtectedResource): void {
  const nonce = proofNonce();
  if (nonce !== undefined) response.setHeader('dpop-nonce', nonce);
}

function createApp(settings: RestSettings, resource: ProtectedResource): FastifyInstance {
  return fastify({
    logger: false,
    bodyLimit: settings.bodyBytesMax,
    requestTimeout: settings.requestTimeoutMs,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    // Closed after every request is answered: connections still open then are idle, or never carried a request.
    forceCloseConnections: true,
    http: { maxHeaderSize: settings.headBytesMax, headersTimeout: settings.requestTimeoutMs },
    routerOptions: { maxParamLength: 512 },
    clientErrorHandler: answerClientError,
    frameworkErrors: (thrown, request, reply) => answerFrameworkError(thrown, request, reply, resource),
  });
}

async function listenOn(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    throw new ToolLayerError('E3900', `The REST door cannot listen on ${host}:${port}: ${reasonOf(cause)}`, { cause });
  }
}

const LISTEN_REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses this port. Choose another with --port or SALLYPORT_SERVER_PORT.',
  EACCES: 'this user may not use this port. Choose one above 1023 with --port or SALLYPORT_SERVER_PORT.',
  EADDRNOTAVAIL: 'this machine has no such address. Choose another host, for example 127.0.0.1.',
  ENOTFOUND: 'the host name is not known. Give an address, for example 127.0.0.1.',
  ERR_SOCKET_BAD_PORT: 'a port is a whole number from 0 to 65535.',
};

function reasonOf(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  return LISTEN_REASONS[code] ?? `${code || 'unknown reason'}.`;
}
