import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../domain/shape/is-object.ts';
import { errorAnswer, type Params, RPC, type RpcAnswer, type RpcRequest } from '../json-rpc.ts';
import { ALL_VERSIONS, isModernVersion, META_CLIENT_CAPABILITIES, META_VERSION, metaOf } from '../mcp-protocol.ts';

/** Whether a request speaks the 2026 era: it states its version itself, or asks what only that era knows. */
export function isModern(request: RpcRequest, headers: IncomingHttpHeaders = {}): boolean {
  return (
    META_VERSION in metaOf(request.params) ||
    request.method === 'server/discover' ||
    isModernVersion(headers['mcp-protocol-version'])
  );
}

/**
 * What is wrong with the statements that every request of 2026-07-28 makes of itself. A header that says another version than the body
 * is a mismatch, whether or not either is spoken here.
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
  return undefined;
}

/** What a client states in its request that it can do. */
export function clientCapabilities({ params }: RpcRequest): Params {
  const stated = metaOf(params)[META_CLIENT_CAPABILITIES];
  return isObject(stated) ? stated : {};
}

/** The headers of 2026-07-28 must say what the body says (streamable HTTP, server validation). */
export function refuseHeaders(request: RpcRequest, headers: IncomingHttpHeaders): RpcAnswer | undefined {
  const version = metaOf(request.params)[META_VERSION];
  const wrong =
    mismatch('MCP-Protocol-Version', headers['mcp-protocol-version'], version) ??
    mismatch('Mcp-Method', headers['mcp-method'], request.method) ??
    nameMismatch(request, headers['mcp-name']);
  return wrong === undefined ? undefined : errorAnswer(request.id, RPC.headerMismatch, wrong, undefined, 400);
}

/** Which member of the params the header Mcp-Name repeats, for the methods that are served here. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['resources/read', 'uri'],
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

/** A value that is not plain ASCII comes as Base64 (value encoding). */
function decoded(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined;
  const inner = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(header)?.[1];
  return inner === undefined ? header : Buffer.from(inner, 'base64').toString('utf8');
}
