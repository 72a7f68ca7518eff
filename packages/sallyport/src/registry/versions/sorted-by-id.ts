interface Identified {
  readonly versions: { readonly toolId: string };
}

/** Takes a tool out of a list that is ordered by id. */
export function removeById<T extends Identified>(list: T[], toolId: string): T | undefined {
  const at = placeOf(list, toolId);
  return list[at]?.versions.toolId === toolId ? list.splice(at, 1)[0] : undefined;
}

/** Puts a tool in its place, instead of the one of the same id. */
export function upsertById<T extends Identified>(list: T[], tool: T): void {
  const at = placeOf(list, tool.versions.toolId);
  list.splice(at, list[at]?.versions.toolId === tool.versions.toolId ? 1 : 0, tool);
}

/** Index of a tool, or where it would be inserted. */
function placeOf(list: readonly Identified[], toolId: string): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]?.versions.toolId ?? '') < toolId) low = middle + 1;
    else high = middle;
  }
  return low;
}
