import { wildcardMatcher } from '@sallyport/std/text/wildcard';
import type { ViewSource, ViewTool } from '../../../api/schemas/visibility.ts';

/** The tools that a view takes from one source. */
export interface Selection {
  /** By the name that the source gives the tool. */
  readonly rules: ReadonlyMap<string, ViewTool>;
  takes(tool: string): boolean;
}

/**
 * Without `allow` and `tools` a source contributes all tools; with only `tools` those, with both either. `deny` wins
 * over all. Names are compared letter by letter: a lookalike is another tool.
 */
export function selectionOf({ allow, deny = [], tools }: ViewSource): Selection {
  const rules = new Map((tools ?? []).map((rule) => [rule.tool, rule]));
  const allowed = anyOf(allow ?? (tools === undefined ? ['*'] : []));
  const denied = anyOf(deny);
  return { rules, takes: (tool) => !denied(tool) && (rules.has(tool) || allowed(tool)) };
}

/** Exact names need one lookup; only patterns are tried one by one. */
export function anyOf(names: readonly string[]): (tool: string) => boolean {
  const exact = new Set(names.filter((name) => !name.includes('*')));
  const patterns = names.filter((name) => name.includes('*')).map(wildcardMatcher);
  return (tool) => exact.has(tool) || patterns.some((matches) => matches(tool));
}
