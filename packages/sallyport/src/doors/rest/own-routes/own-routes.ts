import type { FastifyInstance } from 'fastify';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import { send, sendPage } from '../../http-answer.ts';
import { METADATA_PATH, type ProtectedResource } from '../../protected-resource.ts';
import { addressedServer, pathOfServer } from '../../server-address.ts';
import { callerOf } from '../operation-routes.ts';
import { JSON_TYPE, sendJson } from '../reply.ts';
import { INDEX_PAGE, INDEX_STYLE } from './index-page.ts';

/** Paths of the resources with their own metadata; REST is ''. */
const RESOURCE_PATHS = ['', '/mcp', '/mcp/discovery'];

/**
 * Routes that are not operations: the index page, readiness, the OpenAPI document and the metadata for OAuth clients.
 */
export function addOwnRoutes(
  app: FastifyInstance,
  layer: ToolLayer,
  openApi: () => object,
  resource: ProtectedResource,
): void {
  let document: string | undefined;
  app.get('/', (_request, reply) => {
    reply.hijack();
    sendPage(reply.raw, INDEX_PAGE, INDEX_STYLE);
  });
  app.get('/openapi.json', (_request, reply) => {
    reply.hijack();
    document ??= JSON.stringify(openApi());
    send(reply.raw, 200, JSON_TYPE, document);
  });
  app.get('/readyz', async (request, reply) => {
    const { ready, status, reason } = await layer.ask('health', {}, callerOf(request.raw, reply.raw));
    reply.hijack();
    sendJson(reply.raw, ready ? 200 : 503, { ready, status, ...(reason === undefined ? {} : { reason }) });
  });
  // The same for every well-formed name: who asks for metadata does not learn which upstreams there are.
  app.get(`${METADATA_PATH}${pathOfServer(':name')}`, (request, reply) => {
    const server = addressedServer(request.url.slice(METADATA_PATH.length));
    if (server === undefined) return reply.callNotFound();
    reply.hijack();
    return sendJson(reply.raw, 200, resource.metadata(request.raw, pathOfServer(server)));
  });
  for (const path of RESOURCE_PATHS) {
    app.get(`${METADATA_PATH}${path}`, (request, reply) => {
      reply.hijack();
      sendJson(reply.raw, 200, resource.metadata(request.raw, path));
    });
  }
}
