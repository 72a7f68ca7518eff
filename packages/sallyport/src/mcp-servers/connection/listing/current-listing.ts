import { sha256 } from '@sallyport/std/sha256';
import type { ListedMcpTool } from '../../../registry/importer.port.ts';
import { definitionHash } from '../../trust/definition-hash.ts';
import type { ToolListing } from '../link.ts';

/** What an upstream listed last. */
export interface CurrentListing {
  tools(): readonly ListedMcpTool[];
  malformed(): ToolListing['malformed'];
  /** Of the definition of a tool; the first of two of one name. Undefined when it is not listed. */
  hashOf(tool: string): string | undefined;
  /** Takes a new listing; false when it holds the same tools in the same order. */
  adopt(listing: ToolListing): boolean;
}

/** Nothing was listed yet. */
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
      // Reversed, so that the first of two tools of one name is the one that stays.
      hashes = new Map(listing.tools.toReversed().map((tool) => [tool.name, definitionHash(tool)]));
      whole = sha256(listing.tools.map(definitionHash).join());
      current = listing;
      return before !== whole;
    },
  };
}
