import { recordedChange } from '../../audit/recorded-change.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { UpstreamTool } from '../../mcp-servers/quarantine.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { registryEvent } from '../tools/registry-event.ts';

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

/** Changes of an upstream's tools, with the tools of each. */
type ToolsOfChanges = Readonly<Partial<Record<ToolsChange, readonly UpstreamTool[]>>>;

/** Writes tools of an upstream, and audits which of them changed how (REG-09). */
export function putTools(
  parts: Pick<OperationParts, 'quarantine' | 'ledger' | 'clock'>,
  asker: Asker,
  upstream: string,
  tools: readonly UpstreamTool[],
  changes: ToolsOfChanges,
): Promise<void> {
  return recordedChange(
    parts.ledger,
    () => eventsOf(parts, asker, upstream, changes),
    (keep) => parts.quarantine.put(tools, keep),
  );
}

/** Audits changes of an upstream's tools that are stored already; writes nothing for no tools. */
export async function recordToolChanges(
  parts: Pick<OperationParts, 'ledger' | 'clock'>,
  asker: Asker,
  upstream: string,
  changes: ToolsOfChanges,
): Promise<void> {
  const events = eventsOf(parts, asker, upstream, changes);
  if (events.length > 0) await parts.ledger.commit({ events, durability: 'synchronous' });
}

function eventsOf(
  parts: Pick<OperationParts, 'clock'>,
  asker: Asker,
  upstream: string,
  changes: ToolsOfChanges,
): readonly EventDraft[] {
  return Object.entries(changes).flatMap(([change, tools]) => {
    if (tools.length === 0) return [];
    const named = tools.slice(0, TOOLS_NAMED_MAX);
    const data = {
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
        ...(served === undefined
          ? {}
          : { served_hash: served.hash, findings: served.findings.map(({ kind }) => kind) }),
        ...(rejectedHash === undefined ? {} : { rejected_hash: rejectedHash }),
      })),
    };
    return [registryEvent(parts, asker, upstream, data)];
  });
}
