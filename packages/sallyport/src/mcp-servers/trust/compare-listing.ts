import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { UpstreamTool } from '../quarantine-store.port.ts';
import { definitionHash } from './definition-hash.ts';

/** A tool of a listing under the id that it has, or would have. */
export interface IdentifiedTool {
  readonly toolId: string;
  readonly listed: ListedMcpTool;
}

/** A tool that is known, and what is served of it now. */
export interface ServedTool {
  readonly known: UpstreamTool;
  readonly listed: ListedMcpTool;
}

/** What a listing means for what was accepted. Every listed tool stands in one of the lists, but for those that wait as before. */
export interface ListingComparison {
  /** Never seen before. */
  readonly unknown: readonly IdentifiedTool[];
  /** Served as accepted, whether or not they were blocked until now. */
  readonly accepted: readonly ServedTool[];
  /** Served otherwise than accepted, and otherwise than noted before. */
  readonly changed: readonly ServedTool[];
  /** Served again as an operator once refused it. */
  readonly rejected: readonly ServedTool[];
  /** Known, and not listed any more. */
  readonly absent: readonly UpstreamTool[];
  /** Their id belongs to another tool. */
  readonly refused: readonly { readonly place: string; readonly reason: string }[];
}

/**
 * Compares what an upstream lists with what is known of it.
 * @param ownerOf who has an id, among all upstreams of the tenant
 * @param known every tool of this upstream
 */
export function compareListing(
  upstream: string,
  listing: readonly IdentifiedTool[],
  known: Iterable<UpstreamTool>,
  ownerOf: (toolId: string) => UpstreamTool | undefined,
): ListingComparison {
  const unknown: IdentifiedTool[] = [];
  const accepted: ServedTool[] = [];
  const changed: ServedTool[] = [];
  const rejected: ServedTool[] = [];
  const refused: { place: string; reason: string }[] = [];
  const seen = new Set<string>();
  for (const identified of listing) {
    const { toolId, listed } = identified;
    const owner = ownerOf(toolId);
    if (owner === undefined) unknown.push(identified);
    else if (owner.upstream !== upstream || owner.tool !== listed.name) refused.push(taken(identified, owner));
    else {
      seen.add(toolId);
      const hash = definitionHash(listed);
      if (hash === owner.acceptedHash) accepted.push({ known: owner, listed });
      else if (hash === owner.served?.hash) continue;
      else if (hash === owner.rejectedHash) rejected.push({ known: owner, listed });
      else changed.push({ known: owner, listed });
    }
  }
  const absent = [...known].filter(({ toolId, block }) => block !== 'absent' && !seen.has(toolId));
  return { unknown, accepted, changed, rejected, absent, refused };
}

const PLACE_CHARS_MAX = 200;

function taken({ toolId, listed }: IdentifiedTool, owner: UpstreamTool): { place: string; reason: string } {
  const holder = `${JSON.stringify(owner.tool.slice(0, PLACE_CHARS_MAX))} of the upstream '${owner.upstream}'`;
  return {
    place: listed.name.slice(0, PLACE_CHARS_MAX),
    reason: `The id ${toolId} belongs to the tool ${holder}; rename one of the two there.`,
  };
}
