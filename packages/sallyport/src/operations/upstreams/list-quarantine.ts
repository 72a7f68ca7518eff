import {
  type QuarantinedTool,
  QuarantineListRequest,
  QuarantineListResponse,
  type QuarantineReason,
} from '../../../api/schemas/registry/quarantine.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import {
  isOfferPlace,
  placesOf,
  type ServedDefinition,
  type UpstreamTool,
  upstreamAt,
} from '../../mcp-servers/quarantine.ts';
import type { McpSource } from '../../registry/importer.port.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { definitionChanges } from './definition-changes.ts';
import { changeLevel, definitionOf } from './next-version.ts';

/** A tool on which an operator can decide. */
export interface WaitingTool extends UpstreamTool {
  readonly block: QuarantineReason;
  readonly served: ServedDefinition;
}

/** Tools that wait for an operator or were rejected, with their changes; ordered by id, in pages (REG-09). */
export const listQuarantine = operation({
  name: 'upstreams.quarantine',
  summary: 'List the tools, prompts and templates that wait for an operator, with what changed (REG-09)',
  method: 'GET',
  path: '/v1/quarantine',
  status: 200,
  access: 'viewer',
  input: QuarantineListRequest,
  output: QuarantineListResponse,
  run:
    (parts: Pick<OperationParts, 'quarantine' | 'registry' | 'importMcp'>) =>
    ({ name, tool, page = 1, page_size = 50 }, { principal: { tenantId } }) => {
      const waiting = waitingTools(parts, tenantId, name).filter((found) => tool === undefined || isNamed(found, tool));
      const shown = waiting.slice((page - 1) * page_size, page * page_size);
      return {
        quarantined: shown.map((found) => describe(parts, found)),
        pagination: { total_count: waiting.length, page, page_size },
      };
    },
});

/** Waiting tools of one upstream, or of all; tools that are not listed any more have nothing to decide. */
export function waitingTools(
  { quarantine }: Pick<OperationParts, 'quarantine'>,
  tenantId: string,
  upstream?: string,
): readonly WaitingTool[] {
  const places = upstream === undefined ? [undefined] : placesOf(upstream);
  const known = places.flatMap((place) => quarantine.tools(tenantId, place));
  return known.filter((tool): tool is WaitingTool => {
    return tool.block !== undefined && tool.block !== 'absent' && tool.served !== undefined;
  });
}

/** True when a name means this tool, by its id or by its server's name for it. */
export const isNamed = ({ toolId, tool }: UpstreamTool, name: string): boolean => toolId === name || tool === name;

/** The manifest under which a tool would be registered. @param said settings of the operator */
export function servedManifest(
  { importMcp }: Pick<OperationParts, 'importMcp'>,
  { upstream, toolId, served }: WaitingTool,
  said: Pick<McpSource, 'overrides' | 'credentials'> = {},
): ToolManifest | undefined {
  const { definition, serverVersion } = served;
  return importMcp([definition], {
    name: upstream,
    version: serverVersion,
    idOf: () => toolId,
    ...said,
  }).manifests[0];
}

function describe(parts: Pick<OperationParts, 'registry' | 'importMcp'>, tool: WaitingTool): QuarantinedTool {
  const { tenantId, toolId, version, served } = tool;
  if (isOfferPlace(tool.upstream)) return describeOffer(tool);
  const live = parts.registry.versions(tenantId, toolId);
  const accepted = live.find(({ manifest }) => manifest.version === version)?.manifest;
  const proposed = servedManifest(parts, tool);
  const { changes, leftOut } =
    accepted === undefined || proposed === undefined
      ? { changes: [], leftOut: 0 }
      : definitionChanges(definitionOf(accepted), definitionOf(proposed));
  return {
    upstream: tool.upstream,
    tool: tool.tool,
    tool_id: toolId,
    reason: tool.block,
    content_hash: served.hash,
    ...(version === undefined ? {} : { accepted_version: version }),
    findings: served.findings.map((finding) => ({ ...finding })),
    changes,
    breaking: accepted !== undefined && proposed !== undefined && changeLevel(accepted, proposed) === 'major',
    changes_left_out: leftOut,
    noticed_at: tool.noticedAt,
  };
}

/** Of what was accepted there is no more than the hash, so all that the server says now is shown. */
function describeOffer({ upstream, tool, toolId, block, served, noticedAt }: WaitingTool): QuarantinedTool {
  const { changes, leftOut } = definitionChanges({}, served.definition);
  return {
    ...{ upstream: upstreamAt(upstream), tool, tool_id: toolId, reason: block, content_hash: served.hash },
    findings: served.findings.map((finding) => ({ ...finding })),
    ...{ changes, breaking: false, changes_left_out: leftOut, noticed_at: noticedAt },
  };
}
