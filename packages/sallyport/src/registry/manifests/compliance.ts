import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { ComplianceReport } from '../../../api/schemas/registry/tool-lifecycle.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { isObject } from '../../domain/shape/is-object.ts';

/** Most findings that a report lists; all are counted. */
const FINDINGS_MAX = 200;
/** Most schema objects checked; the rest of a larger document is not checked. */
const SCHEMAS_MAX = 20_000;

type Finding = ComplianceReport['findings'][number];
type Rule = Finding['rule'];
type Members = Readonly<Record<string, unknown>>;

/** Keywords whose value is one schema, and those that hold several by name or in a list. */
const ONE = [
  'items',
  'additionalProperties',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const LISTED = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
/** Keywords that determine the type of a value when `type` is absent. */
const TYPED_BY = ['type', '$ref', '$dynamicRef', 'enum', 'const', 'allOf', 'anyOf', 'oneOf'];

interface Tally {
  points: number;
  met: number;
  readonly findings: Finding[];
  seen: number;
}

/**
 * Checks how well the schemas of a manifest follow 001 §6.3 (REG-08): `$schema` at the root, a type and a description
 * for each property, `required` and `additionalProperties` for each object with properties. Findings never exclude a
 * tool.
 */
export function complianceOf({ parameters_schema, result_schema }: ToolManifest): ComplianceReport {
  const tally: Tally = { points: 0, met: 0, findings: [], seen: 0 };
  inspectDocument(parameters_schema, '/parameters_schema', tally);
  if (result_schema !== undefined) inspectDocument(result_schema, '/result_schema', tally);
  const { points, met, findings } = tally;
  return { score: points === 0 ? 100 : Math.floor((met * 100) / points), points, points_met: met, findings };
}

function inspectDocument(schema: unknown, pointer: string, tally: Tally): void {
  if (!isObject(schema)) return;
  point(tally, schema['$schema'] !== undefined, pointerTo(pointer, '$schema'), '$schema', 'names no dialect');
  const waiting: { readonly schema: Members; readonly pointer: string }[] = [{ schema, pointer }];
  for (let at = waiting.pop(); at !== undefined && tally.seen < SCHEMAS_MAX; at = waiting.pop()) {
    tally.seen += 1;
    inspectObject(at.schema, at.pointer, tally);
    // The last of the list is processed first: reversed, the findings come in the order of the document.
    waiting.push(...below(at.schema, at.pointer).reverse());
  }
}

function inspectObject(schema: Members, pointer: string, tally: Tally): void {
  const { properties } = schema;
  if (!isObject(properties)) return;
  for (const [name, property] of Object.entries(properties)) {
    const place = pointerTo(pointerTo(pointer, 'properties'), name);
    const members = isObject(property) ? property : {};
    point(
      tally,
      TYPED_BY.some((keyword) => members[keyword] !== undefined),
      place,
      'type',
      'has no type',
    );
    const { description } = members;
    const isDescribed = typeof description === 'string' && description.trim() !== '';
    point(tally, isDescribed, place, 'description', 'has no description');
  }
  point(tally, Array.isArray(schema['required']), pointer, 'required', 'does not say which properties are required');
  const isDecided = schema['additionalProperties'] !== undefined || schema['unevaluatedProperties'] !== undefined;
  point(tally, isDecided, pointer, 'additionalProperties', 'does not say whether other properties are allowed');
}

function point(tally: Tally, isMet: boolean, path: string, rule: Rule, message: string): void {
  tally.points += 1;
  if (isMet) tally.met += 1;
  else if (tally.findings.length < FINDINGS_MAX) tally.findings.push({ path, rule, message });
}

function below(schema: Members, pointer: string): { schema: Members; pointer: string }[] {
  const one = ONE.map((keyword) => [pointerTo(pointer, keyword), schema[keyword]] as const);
  const many = [...NAMED, ...LISTED].flatMap((keyword) => {
    const value = schema[keyword];
    if (LISTED.includes(keyword) !== Array.isArray(value) || typeof value !== 'object' || value === null) return [];
    return Object.entries(value).map(([name, each]) => [pointerTo(pointerTo(pointer, keyword), name), each] as const);
  });
  return [...one, ...many].flatMap(([place, value]) => (isObject(value) ? [{ schema: value, pointer: place }] : []));
}
