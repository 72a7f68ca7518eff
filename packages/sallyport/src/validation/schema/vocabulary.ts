/** Keywords that take a plain value and judge by it. */
export const VALUE_KEYWORDS: readonly string[] = [
  ...['type', 'enum', 'const', 'pattern', 'minLength', 'maxLength'],
  ...['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
  ...['maxItems', 'minItems', 'uniqueItems', 'maxProperties', 'minProperties'],
];

/** Vocabularies of 2019-09 and 2020-12 whose keywords a meta-schema can leave out. */
const SELECTABLE: ReadonlyMap<string, readonly string[]> = new Map([
  ['validation', [...VALUE_KEYWORDS, 'required', 'dependentRequired', 'maxContains', 'minContains']],
  ['unevaluated', ['unevaluatedItems', 'unevaluatedProperties']],
]);
/** Vocabularies that are always there, or never judge. */
const OTHERS: ReadonlySet<string> = new Set([
  ...['core', 'applicator', 'meta-data', 'content'],
  ...['format', 'format-annotation', 'format-assertion'],
]);

/**
 * The judging keywords that a `$vocabulary` leaves out.
 * @returns undefined when it is none, or requires a vocabulary that nobody here knows
 */
export function keywordsLeftOut(vocabularies: unknown): ReadonlySet<string> | undefined {
  if (typeof vocabularies !== 'object' || vocabularies === null) return undefined;
  const named = new Set<string>();
  for (const [uri, required] of Object.entries(vocabularies)) {
    const name = /^https:\/\/json-schema\.org\/draft\/[^/]+\/vocab\/([a-z-]+)$/.exec(uri)?.[1] ?? '';
    if (SELECTABLE.has(name) || OTHERS.has(name)) named.add(name);
    else if (required === true) return undefined;
  }
  return new Set([...SELECTABLE].filter(([name]) => !named.has(name)).flatMap(([, words]) => words));
}
