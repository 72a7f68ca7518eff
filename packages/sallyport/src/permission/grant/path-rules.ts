import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../../api/schemas/error.ts';
import type { AccessMode, ToolManifest } from '../../../api/schemas/tool-manifest.ts';

/** Schema keyword that marks a parameter as a path, with the access that the tool needs there. */
const PATH_KEYWORD = 'x-path';
/** Most levels of a schema that are searched. */
const DEPTH_MAX = 32;
/** Most marked parameters of one tool. */
const RULES_MAX = 256;

/** Keywords whose content is a value, not a schema. */
const VALUE_KEYWORDS: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);
/** Longest pointer that is searched, in characters; ends walks through cyclic objects. */
const PLACE_LENGTH_MAX = 4096;

/** Stands for every element of a list in the segments of a rule. */
export const EACH: unique symbol = Symbol('each element');

/** Position of a path in the parameters. */
export interface PathRule {
  readonly segments: readonly (string | typeof EACH)[];
  readonly mode: AccessMode;
  /** JSON Pointer of the marked schema within the parameters' schema. */
  readonly place: string;
}

const rulesByManifest = new WeakMap<ToolManifest, readonly PathRule[]>();

/** The parameters of a tool that are marked as paths, below `properties` and `items`; computed once per manifest. */
export function pathRulesOf(manifest: ToolManifest): readonly PathRule[] {
  const known = rulesByManifest.get(manifest);
  if (known !== undefined) return known;
  const rules: PathRule[] = [];
  collect(manifest.parameters_schema, [], '', rules);
  rulesByManifest.set(manifest, rules);
  return rules;
}

function collect(schema: unknown, segments: PathRule['segments'], place: string, rules: PathRule[]): void {
  if (typeof schema !== 'object' || schema === null || segments.length > DEPTH_MAX || rules.length >= RULES_MAX) return;
  const { properties, items, [PATH_KEYWORD]: mode } = schema as Record<string, unknown>;
  if (mode === 'ro' || mode === 'rw') rules.push({ segments, mode, place });
  if (typeof properties === 'object' && properties !== null)
    for (const [name, member] of Object.entries(properties))
      collect(member, [...segments, name], pointerTo(`${place}/properties`, name), rules);
  collect(items, [...segments, EACH], `${place}/items`, rules);
}

/** Marks without a rule: a wrong mode, or a place that `properties` and `items` alone do not reach. */
export function deadMarksOf(manifest: ToolManifest): Fault[] {
  const alive = new Set(pathRulesOf(manifest).map(({ place }) => place));
  const faults: Fault[] = [];
  const open: { schema: unknown; place: string }[] = [{ schema: manifest.parameters_schema, place: '' }];
  for (let next = open.pop(); next !== undefined && faults.length < RULES_MAX; next = open.pop()) {
    const { schema, place } = next;
    if (typeof schema !== 'object' || schema === null || place.length > PLACE_LENGTH_MAX) continue;
    for (const [key, member] of Object.entries(schema)) {
      if (key === PATH_KEYWORD && typeof member !== 'object' && !alive.has(place)) faults.push(deadMark(place));
      else if (!VALUE_KEYWORDS.has(key)) open.push({ schema: member, place: pointerTo(place, key) });
    }
  }
  return faults;
}

function deadMark(place: string): Fault {
  return {
    path: `/parameters_schema${place}/${PATH_KEYWORD}`,
    code: 'E3008',
    keyword: PATH_KEYWORD,
    message: 'This mark would not be checked.',
    hint: 'Use "ro" or "rw", and only on parameters reached by properties and items, not through $ref or alternatives.',
  };
}
