// Warm path: every definition of every listing goes through here once.

import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { ListedMcpTool } from '../../registry/importer.port.ts';

const known = new WeakMap<ListedMcpTool, string>();

/**
 * SHA-256 over the canonical JSON of a listed definition, hex; independent of the order of members. `execution` is
 * excluded: it says how to call a tool, which neither a model nor a person reads.
 */
export function definitionHash(tool: ListedMcpTool): string {
  const before = known.get(tool);
  if (before !== undefined) return before;
  const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta } = tool;
  const hash = sha256(
    canonicalJson({ _meta, annotations, description, icons, inputSchema, name, outputSchema, title }),
  );
  known.set(tool, hash);
  return hash;
}
