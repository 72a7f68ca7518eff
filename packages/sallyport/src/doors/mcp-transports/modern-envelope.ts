import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../domain/shape/is-object.ts';
import { errorAnswer, type Params, RPC, type RpcAnswer, type RpcRequest } from '../json-rpc.ts';
import {
  ALL_VERSIONS,
  declaresTasks,
  isModernVersion,
  META_CLIENT_CAPABILITIES,
  META_VERSION,
  metaOf,
  tasksMissing,
} from '../mcp-protocol.ts';

/** True when a request is of the 2026 era: it states its own version, or uses a method of that era. */
export function isModern(request: RpcRequest, headers: IncomingHttpHeaders = {}): boolean {
  return (
    META_VERSION in metaOf(request.params) ||
    request.method === 'server/discover' ||
    isModernVersion(headers['mcp-protocol-version'])
  );
}

/**
 * Refuses a request whose self-description (2026-07-28) is wrong. A version in the header other than in the body is a
 * mismatch, whether or not either is supported.
 */
export function refuseEnvelope(request: RpcRequest, headers: IncomingHttpHeaders = {}): RpcAnswer | undefined {
  const meta = metaOf(request.params);
  const version = meta[META_VERSION];
  const said = headers['mcp-protocol-version'];
  if (typeof version === 'string' && said !== undefined && said !== version) return refuseHeaders(request, headers);
  if (typeof version !== 'string') {
    return errorAnswer(request.id, RPC.invalidParams, `_meta must hold ${META_VERSION}.`, undefined, 400);
  }
  if (!isModernVersion(version)) {
    const data = { supported: ALL_VERSIONS, requested: version };
    return errorAnswer(request.id, RPC.unsupportedVersion, 'Unsupported protocol version', data, 400);
  }
  if (!isObject(meta[META_CLIENT_CAPABILITIES])) {
    return errorAnswer(request.id, RPC.invalidParams, `_meta must hold ${META_CLIENT_CAPABILITIES}.`, undefined, 400);
  }
  const wish = request.method === 'subscriptions/listen' ? request.params['notifications'] : undefined;
  if (isObject(wish) && wish['taskIds'] !== undefined && !declaresTasks(clientCapabilities(request)))
    return tasksMissing(request.id, 'A subscription to tasks');
  return undefined;
}

/** The client's capabilities as its request states them. */
export function clientCapabilities({ params }: RpcRequest): Params {
  const stated = metaOf(params)[META_CLIENT_CAPABILITIES];
  return isObject(stated) ? stated : {};
}

/** Refuses headers of 2026-07-28 that contradict the body (streamable HTTP, server validation). */
export function refuseHeaders(request: RpcRequest, headers: IncomingHttpHeaders): RpcAnswer | undefined {
  const version = metaOf(request.params)[META_VERSION];
  const wrong =
    mismatch('MCP-Protocol-Version', headers['mcp-protocol-version'], version) ??
    mismatch('Mcp-Method', headers['mcp-method'], request.method) ??
    nameMismatch(request, headers['mcp-name']);
  return wrong === undefined ? undefined : errorAnswer(request.id, RPC.headerMismatch, wrong, undefined, 400);
}

/** The params member that the header Mcp-Name repeats, for the methods served here. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['resources/read', 'uri'],
  ['prompts/get', 'name'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

function nameMismatch({ method, params }: RpcRequest, header: string | string[] | undefined): string | undefined {
  const member = NAMED_BY.get(method);
  return member === undefined ? undefined : mismatch('Mcp-Name', decoded(header), params[member]);
}

function mismatch(name: string, header: string | string[] | undefined, body: unknown): string | undefined {
  if (header === body) return undefined;
  return header === undefined
    ? `Header mismatch: the header ${name} is missing.`
    : `Header mismatch: the header ${name} does not say what the body says.`;
}

/** Values that are not plain ASCII are Base64 (value encoding). */
function decoded(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined;
  const inner = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(header)?.[1];
  return inner === undefined ? header : Buffer.from(inner, 'base64').toString('utf8');
}
