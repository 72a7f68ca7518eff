import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../../telemetry/log.ts';
import type { ProtectedResource } from '../../protected-resource.ts';
import { discardRest } from '../../request-body.ts';
import { sendProblem } from '../reply.ts';
import { type KnownRoute, OPERATION_ROUTES, OWN_ROUTES, refuseRoute } from '../route-table.ts';
import type { RequestGuard } from './request-guard.ts';

/** Routes of the MCP door, which is mounted beside the operations. */
const MCP_ROUTES: readonly KnownRoute[] = ['POST', 'GET', 'DELETE'].flatMap((method) =>
  ['/mcp', '/mcp/discovery', '/mcp/servers/{name}'].map((path) => ({ method, path })),
);

/** Answers a request that ended in a failure. `route` is for the log. */
export type RefuseThrown = (
  thrown: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  route: string | undefined,
) => void;

/**
 * Answers everything that does not reach an operation: foreign hosts, unknown routes, unreadable requests, faults.
 * @returns the handler that answers faults
 */
export function refuseMisuse(
  app: FastifyInstance,
  guard: RequestGuard,
  resource: ProtectedResource,
  log: Log,
): RefuseThrown {
  const problem = problems(resource);
  app.addHook('onRequest', (request, reply, done) => {
    const refused = guard(request.raw);
    if (refused === undefined) done();
    else {
      problem(reply, refused.failed, refused.status);
      discardRest(request.raw);
    }
  });

  const known = [...OPERATION_ROUTES, ...OWN_ROUTES, ...MCP_ROUTES];
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const refused = refuseRoute(known, request.method, path);
    problem(reply, refused.failure, refused.status, refused.status === 405 ? ['allow', refused.allow.join(', ')] : []);
  });

  const refuseThrown: RefuseThrown = (thrown, { headers }, response, route) => {
    const [failed, status] = explain(thrown, headers);
    if (failed.code === 'E3900') log.error('rest-request-failed', { url: route, cause: thrown });
    sendProblem(response, failed, resource, status);
  };
  app.setErrorHandler((thrown, request, reply) => {
    reply.hijack();
    refuseThrown(thrown, request.raw, reply.raw, request.routeOptions.url);
  });
  return refuseThrown;
}

/** Answers requests that the framework refuses before routing, such as a path that cannot be decoded. */
export function answerFrameworkError(
  thrown: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
  resource: ProtectedResource,
): void {
  const [failed, status] = explain(thrown, request.headers);
  problems(resource)(reply, failed, status);
}

/** The failure for anything thrown; the framework's own refusals are the client's fault, not ours. */
function explain(
  thrown: unknown,
  headers: IncomingHttpHeaders,
): readonly [failed: Failure, status: number | undefined] {
  if (thrown instanceof ToolLayerError || !(thrown instanceof Error)) return [failureOf(thrown), undefined];
  const { statusCode, code, message } = thrown as Partial<FastifyError> & Error;
  if (statusCode === 415) {
    const given = String(headers['content-type'] ?? 'none').slice(0, 100);
    return [failure('E3801', `The content type must be application/json, not ${given}.`), 415];
  }
  if (typeof code === 'string' && code.startsWith('FST_ERR_') && (statusCode ?? 500) < 500) {
    return [failure('E3801', `The request cannot be read: ${message}.`), statusCode];
  }
  return [failureOf(thrown), undefined];
}

const problems =
  (resource: ProtectedResource) =>
  (reply: FastifyReply, failed: Failure, status?: number | undefined, headers?: readonly string[]): void => {
    reply.hijack();
    sendProblem(reply.raw, failed, resource, status, headers);
  };
