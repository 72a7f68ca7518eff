import type { IncomingMessage, ServerResponse } from 'node:http';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ToolInvokeResponse } from '../../../api/schemas/invocation.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import {
  OPERATIONS,
  type OperationEntry,
  type OperationInput,
  type OperationName,
} from '../../operations/catalogue.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { callerCredential } from '../bearer.ts';
import { requestEnd } from '../http-answer.ts';
import type { ProtectedResource } from '../protected-resource.ts';
import type { BodyBudget } from '../request-body.ts';
import { type BodyTerms, readBody, UNKNOWN_BODY_BYTES_MAX } from '../request-body.ts';
import { type ExactPlace, readWireJson } from '../wire-json.ts';
import type { DirectPosts } from './direct-posts.ts';
import { createInputReader } from './input-of-request.ts';
import { isLocal } from './local-server.ts';
import type { RefuseThrown } from './misuse/refuse-misuse.ts';
import { sendInvocation, sendJson } from './reply.ts';
import { pathsOf } from './route-table.ts';
import type { RestSettings } from './settings.ts';

type Params = Readonly<Record<string, string>>;
type Query = Readonly<Record<string, unknown>>;

/** The address of an operation in the framework's notation. */
const routeOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/**
 * Routes whose small bodies are read without a credential: calls, which may carry their token in the body and whose
 * refusal is recorded, and routes open to everybody, such as the answer to a notice.
 */
const TOKEN_IN_BODY: ReadonlySet<string> = new Set(
  [
    OPERATIONS['tools.invoke'],
    OPERATIONS['tools.dry-run'],
    ...Object.values<OperationEntry>(OPERATIONS).filter(({ access }) => access === 'open'),
  ].map(({ path }) => routeOf(path)),
);

/** Members of a body that reach a tool, or stand for what one gave. */
const EXACT: readonly ExactPlace[] = [['parameters'], ['arguments'], ['result']];

/** One route per row of the operation table. */
export function addOperationRoutes(
  app: FastifyInstance,
  layer: ToolLayer,
  resource: ProtectedResource,
  settings: Pick<RestSettings, 'bodyBytesMax' | 'documentBytesMax'>,
  budget: BodyBudget,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    const { url } = request.routeOptions;
    const carriesDocument = url?.startsWith('/v1/imports/') === true;
    const bytesMax = carriesDocument ? settings.documentBytesMax : settings.bodyBytesMax;
    const caller = senderOf(payload);
    const isKnown = caller.token !== undefined || caller.local === true;
    return readJson(payload, {
      bytesMax: request.is404 ? Math.min(bytesMax, UNKNOWN_BODY_BYTES_MAX) : bytesMax,
      budget,
      admit: () => layer.ask('tokens.inspect', {}, caller),
      admitFirst: !request.is404 && !isKnown && !(url !== undefined && TOKEN_IN_BODY.has(url)),
    });
  });
  for (const name of Object.keys(OPERATIONS) as OperationName[]) addRoute(app, layer, resource, name);
}

function addRoute(app: FastifyInstance, layer: ToolLayer, resource: ProtectedResource, name: OperationName): void {
  const entry: OperationEntry = OPERATIONS[name];
  const reader = createInputReader(entry);
  const inBody = entry.method === 'POST';
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const params = request.params as Params;
    const input = inBody ? reader.fromBody(params, request.body) : reader.fromUrl(params, request.query as Query);
    // The operation validates its input itself: the input is passed on unchanged.
    const answer = await layer.ask(name, input as OperationInput<typeof name>, callerOf(request.raw, reply.raw));
    reply.hijack();
    if (name === 'tools.invoke') sendInvocation(reply.raw, answer as ToolInvokeResponse, resource);
    else sendJson(reply.raw, statusOf(entry, answer), answer);
  };
  for (const path of pathsOf(entry))
    app.route({ method: entry.method, url: routeOf(path), handler, exposeHeadRoute: entry.method === 'GET' });
}

/** @returns undefined for an empty body */
async function readJson(payload: IncomingMessage, terms: BodyTerms): Promise<unknown> {
  const bytes = await readBody(payload, terms);
  if (bytes.length === 0) return undefined;
  const read = readWireJson(bytes, EXACT);
  if (!read.ok) throw ToolLayerError.of(read.failure);
  return read.value;
}

/** Tool calls without the framework; equivalent to their route. */
export function addDirectInvocation(
  direct: DirectPosts,
  layer: ToolLayer,
  resource: ProtectedResource,
  { bodyBytesMax }: Pick<RestSettings, 'bodyBytesMax'>,
  refuse: RefuseThrown,
  budget: BodyBudget,
): void {
  const entry = OPERATIONS['tools.invoke'];
  const reader = createInputReader(entry);
  direct.add(entry.path, async (request, response) => {
    try {
      const caller = callerOf(request, response);
      const admit = () => layer.ask('tokens.inspect', {}, caller);
      const body = await readJson(request, { bytesMax: bodyBytesMax, budget, admit });
      const input = reader.fromBody({}, body) as OperationInput<'tools.invoke'>;
      sendInvocation(response, await layer.ask('tools.invoke', input, caller), resource);
    } catch (thrown) {
      refuse(thrown, request, response, entry.path);
    }
  });
}

/** An unready layer answers health normally, but with a status of failure. */
function statusOf(entry: OperationEntry, answer: object): number {
  return 'ready' in answer && answer.ready === false ? 503 : entry.status;
}

/** What this door knows of the caller. The signal aborts when the connection or the door ends before the answer. */
export function callerOf(request: IncomingMessage, response: ServerResponse): Caller {
  const { traceparent } = request.headers;
  return {
    ...senderOf(request),
    signal: requestEnd(response).signal,
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
  };
}

/** A request with a token is made with that token, on the local socket too. */
function senderOf(request: IncomingMessage): Caller {
  const presented = callerCredential(request);
  if (presented !== undefined) return { door: 'rest', ...presented };
  return isLocal(request) ? { door: 'rest', local: true } : { door: 'rest' };
}
