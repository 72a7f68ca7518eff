import type { AccessMode, ToolManifest } from '../../../api/schemas/tool-manifest.ts';

/** Schema keyword that marks a parameter as a path, with the access that the tool needs there. */
const PATH_KEYWORD = 'x-path';
/** Levels of a schema that are searched. */
const DEPTH_MAX = 32;
/** Marked parameters of one tool. */
const RULES_MAX = 256;

/** Every element of a list, in the segments of a rule. */
export const EACH: unique symbol = Symbol('each element');

/** Where in the parameters a path stands. */
export interface PathRule {
  readonly segments: readonly (string | typeof EACH)[];
  readonly mode: AccessMode;
}

const rulesByManifest = new WeakMap<ToolManifest, readonly PathRule[]>();

/** The parameters of a tool that are marked as paths, below `properties` and `items`; found once for each manifest. */
export function pathRulesOf(manifest: ToolManifest): readonly PathRule[] {
  const known = rulesByManifest.get(manifest);
  if (known !== undefined) return known;
  const rules: PathRule[] = [];
  collect(manifest.parameters_schema, [], rules);
  rulesByManifest.set(manifest, rules);
  return rules;
}

function collect(schema: unknown, segments: PathRule['segments'], rules: PathRule[]): void {
  if (typeof schema !== 'object' || schema === null || segments.length > DEPTH_MAX || rules.length >= RULES_MAX) return;
  const { properties, items, [PATH_KEYWORD]: mode } = schema as Record<string, unknown>;
  if (mode === 'ro' || mode === 'rw') rules.push({ segments, mode });
  if (typeof properties === 'object' && properties !== null)
    for (const [name, member] of Object.entries(properties)) collect(member, [...segments, name], rules);
  collect(items, [...segments, EACH], rules);
}
