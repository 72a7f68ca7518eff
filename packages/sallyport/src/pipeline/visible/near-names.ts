import type { Failure } from '@sallyport/std/error/failure';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { nearestNames } from '../../model-facing/nearest-names.ts';
import { unknownTool } from '../../registry/registry.ts';
import type { Listing } from './listing.ts';
import type { Asking } from './seen-tool.ts';

/** Tools that are compared with one unknown name; of more, those whose ids are nearest in the alphabet. */
const LOOKED_AT_MAX = 512;

/**
 * Adds, to the error for an unknown tool, the names that the caller may have meant. Only tools that the caller sees in
 * lists are named, so a hidden tool and an absent one get the same answer.
 */
export function nearNames({ candidates, seenBy }: Pick<Listing, 'candidates' | 'seenBy'>) {
  const near = (asking: Asking, name: string): readonly string[] => {
    const see = seenBy(asking);
    const names = around(candidates(asking), name).flatMap((tool) => see(tool)?.name ?? []);
    return nearestNames(name, names);
  };
  return {
    /**
     * @param found any failure of a look-up by `name`; returned unchanged unless it is an E3001 worded as for an absent
     *   tool
     */
    suggested(found: Failure, asking: Asking, name: string): Failure {
      const absent = unknownTool(name);
      return found.code === absent.code && found.message === absent.message
        ? unknownTool(name, near(asking, name))
        : found;
    },
    near,
  };
}

/** @param tools ordered by id when there are many */
function around(tools: readonly ToolVersion[], name: string): readonly ToolVersion[] {
  let [low, high] = [0, tools.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((tools[middle]?.manifest.tool_id ?? '') < name) low = middle + 1;
    else high = middle;
  }
  const from = Math.max(0, Math.min(low - LOOKED_AT_MAX / 2, tools.length - LOOKED_AT_MAX));
  return tools.slice(from, from + LOOKED_AT_MAX);
}
