import type { UpstreamAddResponse, UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import type { Asker, Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { takeListing } from './take-listing.ts';

/** Connects an MCP server and registers its tools. */
export function addUpstream(parts: OperationParts): Run<'upstreams.add'> {
  return ({ upstream, install }, asker) => connectAndRegister(parts, asker, upstream, install === true);
}

/** @throws ToolLayerError what the server did instead of answering; nothing is stored then */
export async function connectAndRegister(
  parts: OperationParts,
  asker: Asker,
  asked: UpstreamDefinition,
  mayInstall: boolean,
): Promise<UpstreamAddResponse> {
  const { tenantId } = asker.principal;
  const definition = await parts.upstreams.prepare(tenantId, asked, mayInstall);
  const { status } = await parts.upstreams.add(tenantId, definition, { token: asker.caller.token });
  const registrations = await takeListing(parts, asker, definition.name, true);
  return { upstream: parts.upstreams.current(tenantId, definition.name)?.status ?? status, registrations };
}
