import type { UpstreamTool } from '../../mcp-servers/quarantine.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../tools/registry-event.ts';

/** Tools that one event names; the others are only counted. */
const TOOLS_NAMED_MAX = 200;

/** A change of an upstream's tools. */
export type ToolsChange =
  | 'imported'
  | 'tools-quarantined'
  | 'tools-absent'
  | 'tools-restored'
  | 'tools-accepted'
  | 'tools-rejected';

/** Audits a change of an upstream's tools (REG-09); writes nothing for no tools. */
export async function recordToolChanges(
  parts: Pick<OperationParts, 'ledger' | 'clock'>,
  asker: Asker,
  upstream: string,
  change: ToolsChange,
  tools: readonly UpstreamTool[],
): Promise<void> {
  if (tools.length === 0) return;
  const named = tools.slice(0, TOOLS_NAMED_MAX);
  await recordChange(parts, asker, upstream, {
    change,
    source: upstream,
    upstream,
    tool_ids: named.map(({ toolId }) => toolId),
    tool_count: tools.length,
    tools: named.map(({ toolId, version, acceptedHash, block, served, rejectedHash }) => ({
      tool_id: toolId,
      ...(version === undefined ? {} : { version }),
      ...(block === undefined ? {} : { reason: block }),
      ...(acceptedHash === undefined ? {} : { accepted_hash: acceptedHash }),
      ...(served === undefined ? {} : { served_hash: served.hash, findings: served.findings.map(({ kind }) => kind) }),
      ...(rejectedHash === undefined ? {} : { rejected_hash: rejectedHash }),
    })),
  });
}
