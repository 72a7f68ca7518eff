import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { UpstreamAddRequest, UpstreamAddResponse, type UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import { recordedChange } from '../../audit/recorded-change.ts';
import type { EventsOf } from '../../domain/event/events-of.ts';
import { PROGRAM } from '../../domain/tool/server-tool.ts';
import { holderOf } from '../../mcp-servers/upstream-logins.ts';
import { withReferences } from '../../mcp-servers/upstreams.ts';
import { withShippedOverrides } from '../../reference-servers/shipped-overrides.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange, registryEvent } from '../tools/registry-event.ts';
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
    const { status } = await storedUpstream(parts, asker, definition, (events) =>
      parts.upstreams.add(tenantId, definition, { ...operator, events }),
    );
    const registrations = await takeListing(parts, asker, name, true);
    return { upstream: parts.upstreams.current(tenantId, name)?.status ?? status, registrations };
  } catch (thrown) {
    const { code, message } = failureOf(thrown);
    if (code !== 'E3311' || !(await keptUpstream(parts, asker, definition))) throw thrown;
    const kept = parts.upstreams.current(tenantId, name);
    if (kept === undefined) throw thrown;
    return { upstream: kept.status, registrations: [], needs_login: message };
  }
}

/** Stores an upstream that cannot be connected now. @returns false when one of its name exists */
export const keptUpstream = (parts: OperationParts, asker: Asker, definition: UpstreamDefinition): Promise<boolean> =>
  storedUpstream(parts, asker, definition, (events) =>
    parts.upstreams.keep(asker.principal.tenantId, definition, events),
  );

/** Stores an upstream by `store`, and audits that; of a definition that is in force already there is nothing to tell. */
function storedUpstream<Result>(
  parts: OperationParts,
  asker: Asker,
  definition: UpstreamDefinition,
  store: (events: EventsOf<void>) => Promise<Result>,
): Promise<Result> {
  const { name, transport } = definition;
  const known = parts.upstreams.definition(asker.principal.tenantId, name);
  const change = known === undefined ? 'upstream-added' : 'upstream-changed';
  const data = { change, upstream: name, transport: transport.type, tool_ids: [] };
  const isNews = known === undefined || canonicalJson(known) !== canonicalJson(definition);
  return recordedChange(parts.ledger, () => (isNews ? [registryEvent(parts, asker, name, data)] : []), store);
}
