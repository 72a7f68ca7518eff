/** An object of a JSON Schema document: a schema, or a map of schemas. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** Keywords whose schemas apply to the same value as the schema that contains them. */
const SAME_VALUE = ['if', 'then', 'else', 'not'] as const;
const SAME_VALUE_LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const SAME_VALUE_MAPS = ['dependentSchemas', 'dependencies'] as const;
const OTHER_MEMBERS = ['additionalProperties', 'unevaluatedProperties'] as const;
const ELEMENTS = ['items', 'additionalItems', 'unevaluatedItems', 'contains'] as const;
const ELEMENT_LISTS = ['prefixItems', 'items'] as const;
const DEPENDENT_NAMES = ['dependentRequired', 'dependencies'] as const;

/**
 * Finds the schemas of a document that apply to a part of a value. Every schema that may apply counts, whether or not
 * its condition holds. References are pointers into the document (`#/…`); all others are ignored.
 */
export class SchemaPlaces {
  readonly #root: SchemaNode;
  readonly #together = new Map<SchemaNode, readonly SchemaNode[]>();

  constructor(root: SchemaNode) {
    this.#root = root;
  }

  /**
   * The schema and all others that apply to the same value: by `$ref`, `allOf` and similar, or `if`, `then`, `else`.
   */
  together(schema: unknown): readonly SchemaNode[] {
    if (!isNode(schema)) return [];
    let found = this.#together.get(schema);
    if (found === undefined) {
      const all = new Set([schema]);
      // Iterating a Set includes members that are added meanwhile, so cycles end.
      for (const one of all) for (const next of this.#besides(one)) if (isNode(next)) all.add(next);
      found = [...all];
      this.#together.set(schema, found);
    }
    return found;
  }

  /** The schemas of one member of an object. */
  member(schemas: readonly SchemaNode[], name: string): readonly SchemaNode[] {
    return this.#all(
      schemas.flatMap((schema) => {
        const declared = own(schema['properties'], name);
        const others = declared === undefined ? OTHER_MEMBERS.map((keyword) => schema[keyword]) : [declared];
        return [...others, ...valuesOf(schema['patternProperties'])];
      }),
    );
  }

  /** The schemas of one element of a list. */
  element(schemas: readonly SchemaNode[], index: number): readonly SchemaNode[] {
    return this.#all(
      schemas.flatMap((schema) => [
        ...ELEMENTS.map((keyword) => schema[keyword]),
        ...ELEMENT_LISTS.map((keyword) => listOf(schema[keyword])[index]),
      ]),
    );
  }

  /** The target of a reference; undefined when it has none, or is no pointer. */
  target(reference: unknown): unknown {
    const segments = typeof reference === 'string' ? segmentsOf(reference) : undefined;
    return segments?.reduce<unknown>((at, segment) => own(at, segment), this.#root);
  }

  #all(schemas: readonly unknown[]): readonly SchemaNode[] {
    return [...new Set(schemas.flatMap((schema) => this.together(schema)))];
  }

  #besides(schema: SchemaNode): unknown[] {
    return [
      this.target(schema['$ref']),
      ...SAME_VALUE.map((keyword) => schema[keyword]),
      ...SAME_VALUE_LISTS.flatMap((keyword) => listOf(schema[keyword])),
      ...SAME_VALUE_MAPS.flatMap((keyword) => valuesOf(schema[keyword])),
    ];
  }
}

/** True when one of these schemas names a member. */
export function isNamed(schemas: readonly SchemaNode[], name: string): boolean {
  return schemas.some(
    (schema) =>
      own(schema['properties'], name) !== undefined ||
      listOf(schema['required']).includes(name) ||
      own(schema['dependentSchemas'], name) !== undefined ||
      DEPENDENT_NAMES.some(
        (keyword) =>
          own(schema[keyword], name) !== undefined ||
          valuesOf(schema[keyword]).some((one) => listOf(one).includes(name)),
      ),
  );
}

/** The segments of a reference that is a pointer into its own document (RFC 6901 §6); undefined for any other. */
export function segmentsOf(reference: string): readonly string[] | undefined {
  if (reference === '#') return [];
  if (!reference.startsWith('#/')) return undefined;
  try {
    const pointer = decodeURIComponent(reference.slice(2));
    return pointer.split('/').map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return undefined;
  }
}

/** A JSON object. */
export const isNode = (value: unknown): value is SchemaNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A list, empty for anything else. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const valuesOf = (value: unknown): readonly unknown[] => (isNode(value) ? Object.values(value) : []);

function own(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
