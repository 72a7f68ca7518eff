import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { UpstreamAddRequest, UpstreamAddResponse, type UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import { PROGRAM } from '../../domain/tool/server-tool.ts';
import { holderOf } from '../../mcp-servers/upstream-logins.ts';
import { withReferences } from '../../mcp-servers/upstreams.ts';
import { withShippedOverrides } from '../../reference-servers/shipped-overrides.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../tools/registry-event.ts';
import { takeListing } from './take-listing.ts';

/** Connects an MCP server and registers its tools. */
export const addUpstream = operation({
  name: 'upstreams.add',
  summary: 'Connect an MCP server and register its tools',
  method: 'POST',
  path: '/v1/upstreams',
  status: 201,
  access: 'operator',
  input: UpstreamAddRequest,
  output: UpstreamAddResponse,
  run:
    (parts: OperationParts) =>
    async ({ upstream, install }, asker) =>
      connectAndRegister(parts, asker, await withInstalled(parts, asker, upstream, install === true)),
});

/**
 * The definition with the package that its command needs, which is put on record, and with references in place of
 * secrets when no secrets are kept.
 * @throws E3801 for the name of the program's own, and when something has to be installed and may not be, or cannot be
 */
export async function withInstalled(
  parts: OperationParts,
  asker: Asker,
  asked: UpstreamDefinition,
  mayInstall: boolean,
): Promise<UpstreamDefinition> {
  if (asked.name === PROGRAM) {
    const message = `No upstream is named ${PROGRAM}: the resources of the program itself are. Choose another name.`;
    throw new ToolLayerError('E3801', message);
  }
  const referring = parts.keepsSecrets ? asked : withReferences(asked);
  const definition = await parts.upstreams.prepare(asker.principal.tenantId, referring, mayInstall);
  const { name, transport } = definition;
  if (definition !== referring && transport.type === 'stdio') {
    const data = {
      change: 'upstream-package-pinned',
      upstream: name,
      package: { ...transport.installed },
      tool_ids: [],
    };
    await recordChange(parts, asker, name, data);
  }
  return definition;
}

/**
 * An upstream at which somebody has to log in first is stored without its tools.
 * @throws ToolLayerError the failure of the server; nothing is stored then
 */
export async function connectAndRegister(
  parts: OperationParts,
  asker: Asker,
  asked: UpstreamDefinition,
): Promise<UpstreamAddResponse> {
  const { tenantId } = asker.principal;
  const definition = withShippedOverrides(asked);
  const { name } = definition;
  const operator = { token: asker.caller.token, holder: holderOf(asker.principal) };
  try {
    const { status } = await parts.upstreams.add(tenantId, definition, operator);
    const registrations = await takeListing(parts, asker, name, true);
    return { upstream: parts.upstreams.current(tenantId, name)?.status ?? status, registrations };
  } catch (thrown) {
    const { code, message } = failureOf(thrown);
    if (code !== 'E3311' || !(await parts.upstreams.keep(tenantId, definition))) throw thrown;
    const kept = parts.upstreams.current(tenantId, name);
    if (kept === undefined) throw thrown;
    return { upstream: kept.status, registrations: [], needs_login: message };
  }
}
