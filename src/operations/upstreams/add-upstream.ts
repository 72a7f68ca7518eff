import type { UpstreamAddResponse, UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import { registerImported } from '../imports/register-imported.ts';
import type { Asker, Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Connects an MCP server and registers its tools. */
export function addUpstream(parts: OperationParts): Run<'upstreams.add'> {
  return ({ upstream }, asker) => connectAndRegister(parts, asker, upstream);
}

/** @throws ToolLayerError what the server did instead of answering; nothing is stored then */
export async function connectAndRegister(
  parts: OperationParts,
  asker: Asker,
  definition: UpstreamDefinition,
): Promise<UpstreamAddResponse> {
  const { status, tools, serverVersion, malformed } = await parts.upstreams.add(asker.principal.tenantId, definition);
  const imported = parts.importMcp(tools, { name: definition.name, version: serverVersion });
  const registrations = await registerImported(parts, asker, imported);
  for (const { place, reason } of [...imported.skipped, ...malformed]) {
    registrations.push({ tool_id: place, version: '', outcome: 'refused', warnings: [], error: { message: reason } });
  }
  return { upstream: status, registrations };
}
