import { sha256 } from '@sallyport/std/sha256';
import type { ListedMcpTool } from '../../../registry/importer.port.ts';
import { definitionHash } from '../../trust/definition-hash.ts';
import type { ToolListing } from '../link.ts';

/** The last listing of an upstream. */
export interface CurrentListing {
  tools(): readonly ListedMcpTool[];
  malformed(): ToolListing['malformed'];
  /** Hash of a tool's definition; of two tools with one name the first counts. Undefined when not listed. */
  hashOf(tool: string): string | undefined;
  /** Takes a new listing over; false when it holds the same tools in the same order. */
  adopt(listing: ToolListing): boolean;
}

/** Makes an empty listing. */
export function createCurrentListing(): CurrentListing {
  let current: ToolListing = { tools: [], malformed: [] };
  let hashes: ReadonlyMap<string, string> = new Map();
  let whole = '';
  return {
    tools: () => current.tools,
    malformed: () => current.malformed,
    hashOf: (tool) => hashes.get(tool),
    adopt(listing) {
      const before = whole;
      // Reversed, so that the first of two tools with one name wins.
      hashes = new Map(listing.tools.toReversed().map((tool) => [tool.name, definitionHash(tool)]));
      whole = sha256(listing.tools.map(definitionHash).join());
      current = listing;
      return before !== whole;
    },
  };
}
