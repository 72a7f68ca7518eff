import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import { type PatternJudge, patternJudge, SCHEMA_STEPS_MAX } from '../../../domain/shape/patterns/pattern-judge.ts';

/** Members of a schema that are a schema, a list of them, or schemas by name. */
const ONE = new Set(
  ['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'items', 'additionalItems', 'additionalProperties'].concat(
    ['unevaluatedItems', 'unevaluatedProperties'],
  ),
);
const MANY = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);

/** Most characters of a pattern kept as words. */
const SHOWN_CHARS_MAX = 256;

/**
 * Replaces patterns that cannot be checked in linear time (look-around, back-references) by words: the layer refuses
 * such schemas, and the function that it describes validates its input itself.
 */
export function relaxedPatterns(
  schema: JsonSchemaObject,
  judge: PatternJudge = patternJudge(SCHEMA_STEPS_MAX),
): JsonSchemaObject {
  const relax = (value: unknown): unknown => (isNode(value) ? relaxedPatterns(value, judge) : value);
  const relaxed: Record<string, unknown> = {};
  let words: string | undefined;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'pattern' && typeof value === 'string' && judge(value) !== undefined) {
      words = `Must match the pattern ${value.slice(0, SHOWN_CHARS_MAX)} (checked by the tool itself).`;
    } else if (MANY.has(keyword) && Array.isArray(value)) relaxed[keyword] = value.map(relax);
    else if (ONE.has(keyword)) relaxed[keyword] = relax(value);
    else if (NAMED.has(keyword) && isNode(value)) {
      relaxed[keyword] = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, relax(part)]));
    } else relaxed[keyword] = value;
  }
  if (words !== undefined) relaxed['description'] = [relaxed['description'], words].filter(Boolean).join(' ');
  return relaxed;
}

const isNode = (value: unknown): value is JsonSchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
