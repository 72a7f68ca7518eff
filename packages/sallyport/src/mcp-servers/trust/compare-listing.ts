import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { UpstreamTool } from '../quarantine-store.port.ts';
import { definitionHash } from './definition-hash.ts';

/** A tool of a listing, under the id that it has or would have. */
export interface IdentifiedTool {
  readonly toolId: string;
  readonly listed: ListedMcpTool;
}

/** A known tool and its current definition. */
export interface ServedTool {
  readonly known: UpstreamTool;
  readonly listed: ListedMcpTool;
}

/**
 * Result of comparing a listing with the accepted tools. Every listed tool is in one of the lists, except tools that
 * wait unchanged.
 */
export interface ListingComparison {
  /** Never seen before. */
  readonly unknown: readonly IdentifiedTool[];
  /** Listed as accepted, blocked until now or not; of a trusted upstream also what is listed differently. */
  readonly accepted: readonly ServedTool[];
  /** Listed differently than accepted, and differently than noted before. */
  readonly changed: readonly ServedTool[];
  /** Listed again as an operator once refused it. */
  readonly rejected: readonly ServedTool[];
  /** Known, but no longer listed. */
  readonly absent: readonly UpstreamTool[];
  /** Their id belongs to another tool. */
  readonly refused: readonly { readonly place: string; readonly reason: string }[];
}

/**
 * Compares an upstream's listing with what is known of it.
 * @param ownerOf the owner of an id, among all upstreams of the tenant
 * @param known every tool of this upstream
 * @param isTrusted see `Quarantine.compare`
 */
export function compareListing(
  upstream: string,
  listing: readonly IdentifiedTool[],
  known: Iterable<UpstreamTool>,
  ownerOf: (toolId: string) => UpstreamTool | undefined,
  isTrusted = false,
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
      if (isAccepted(owner, hash, isTrusted)) accepted.push({ known: owner, listed });
      else if (hash === owner.served?.hash) continue;
      else if (hash === owner.rejectedHash) rejected.push({ known: owner, listed });
      else changed.push({ known: owner, listed });
    }
  }
  const absent = [...known].filter(({ toolId, block }) => block !== 'absent' && !seen.has(toolId));
  return { unknown, accepted, changed, rejected, absent, refused };
}

/** True when something would be written of it: then what is on record decides, not what was known here. */
export const isNews = ({ unknown, accepted, changed, rejected, absent }: ListingComparison): boolean =>
  unknown.length + changed.length + rejected.length + absent.length > 0 ||
  accepted.some(({ known: { block } }) => block !== undefined);

/** What an operator refused, or never let in, is decided by operators alone. */
function isAccepted({ acceptedHash, rejectedHash }: UpstreamTool, hash: string, isTrusted: boolean): boolean {
  return hash === acceptedHash || (isTrusted && acceptedHash !== undefined && hash !== rejectedHash);
}

const PLACE_CHARS_MAX = 200;

function taken({ toolId, listed }: IdentifiedTool, owner: UpstreamTool): { place: string; reason: string } {
  const holder = `${JSON.stringify(owner.tool.slice(0, PLACE_CHARS_MAX))} of the upstream '${owner.upstream}'`;
  return {
    place: listed.name.slice(0, PLACE_CHARS_MAX),
    reason: `The id ${toolId} belongs to the tool ${holder}; rename one of the two there.`,
  };
}
