import type { FastifyInstance } from 'fastify';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { send, sendPage } from '../http-answer.ts';
import { INDEX_PAGE, INDEX_STYLE } from './index-page.ts';
import { callerOf } from './operation-routes.ts';
import { JSON_TYPE, sendJson } from './reply.ts';

/** Routes that are no operation: the index page, readiness and the OpenAPI document. */
export function addOwnRoutes(app: FastifyInstance, layer: ToolLayer, openApi: object): void {
  const document = JSON.stringify(openApi);
  app.get('/', (_request, reply) => {
    reply.hijack();
    sendPage(reply.raw, INDEX_PAGE, INDEX_STYLE);
  });
  app.get('/openapi.json', (_request, reply) => {
    reply.hijack();
    send(reply.raw, 200, JSON_TYPE, document);
  });
  app.get('/readyz', async (request, reply) => {
    const { ready, status } = await layer.ask('health', {}, callerOf(request, reply));
    reply.hijack();
    sendJson(reply.raw, ready ? 200 : 503, { ready, status });
  });
}
