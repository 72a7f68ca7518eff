import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { FastifyInstance } from 'fastify';
import { answerClientError } from './misuse/client-error.ts';
import type { RestSettings } from './settings.ts';

type Settings = Pick<RestSettings, 'connectionsMax' | 'headBytesMax' | 'keepAliveTimeoutMs' | 'requestTimeoutMs'>;

const LOCAL = new WeakSet<Socket>();

/** True when a request came over the door's unix socket: access to its folder means operator rights. */
export const isLocal = ({ socket }: IncomingMessage): boolean => LOCAL.has(socket);

/**
 * Lets a door answer on a unix socket too. Access to its folder decides who can ask there, so the folder must be
 * private to its owner.
 * @throws ToolLayerError E3900 when the socket cannot be made
 */
export async function listenLocally(app: FastifyInstance, path: string, settings: Settings): Promise<Server> {
  const server = createServer(
    {
      maxHeaderSize: settings.headBytesMax,
      headersTimeout: settings.requestTimeoutMs,
      requestTimeout: settings.requestTimeoutMs,
      keepAliveTimeout: settings.keepAliveTimeoutMs,
    },
    (request, response) => void app.server.emit('request', request, response),
  );
  server.maxConnections = settings.connectionsMax;
  server.on('connection', (socket) => void LOCAL.add(socket)).on('clientError', answerClientError);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (cause: NodeJS.ErrnoException) =>
    reject(new ToolLayerError('E3900', `The REST door cannot listen on ${path}: ${cause.code}.`, { cause })),
  );
  server.listen(path, resolve);
  await promise;
  return server;
}

/** Closes the server and its connections; the socket's file is removed. */
export async function closeLocally(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
