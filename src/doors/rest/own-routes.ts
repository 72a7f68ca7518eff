import type { FastifyInstance } from 'fastify';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { send } from '../http-answer.ts';
import { callerOf } from './operation-routes.ts';
import { JSON_TYPE, sendJson } from './reply.ts';

const INDEX = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Sallyport</title>
<h1>Sallyport</h1>
<p>The tool execution layer for AI agents. This is its door; agents and programs use these addresses:</p>
<ul>
<li><a href="/openapi.json">/openapi.json</a>: the REST interface under <code>/v1</code></li>
<li><code>/mcp</code>: the tools over the Model Context Protocol</li>
<li><a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>: whether it works</li>
</ul>
</html>
`;

/** Routes that are no operation: the index page, readiness and the OpenAPI document. */
export function addOwnRoutes(app: FastifyInstance, layer: ToolLayer, openApi: object): void {
  const document = JSON.stringify(openApi);
  app.get('/', (_request, reply) => {
    reply.hijack();
    send(reply.raw, 200, 'text/html; charset=utf-8', INDEX);
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
