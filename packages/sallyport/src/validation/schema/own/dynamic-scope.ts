import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import type { DynamicAnchors } from '../references.ts';

/**
 * Meaning of the dynamic anchors at a place: for each name, the schema in the outermost resource on the way. A place
 * reached in several scopes is copied once per scope, so that validation need not track them.
 */
export interface DynamicScope {
  readonly id: number;
  readonly anchors: DynamicAnchors;
}

/** Makes scopes, each distinct one once. */
export function dynamicScopes() {
  const scopes = new Map<string, DynamicScope>();
  const numbers = new Map<JsonSchemaObject, number>();
  const numberOf = (schema: JsonSchemaObject): number => {
    const known = numbers.get(schema) ?? numbers.size;
    numbers.set(schema, known);
    return known;
  };
  const outermost: DynamicScope = { id: 0, anchors: new Map() };
  return {
    outermost,
    /** The scope inside a resource: anchors that an outer one has already stay its own. */
    inside(scope: DynamicScope, own: DynamicAnchors | undefined): DynamicScope {
      if (own === undefined || [...own.keys()].every((name) => scope.anchors.has(name))) return scope;
      const anchors = new Map([...own, ...scope.anchors]);
      const key = [...anchors]
        .map(([name, schema]) => `${name} ${numberOf(schema)}`)
        .sort()
        .join();
      const made = scopes.get(key) ?? { id: scopes.size + 1, anchors };
      scopes.set(key, made);
      return made;
    },
  };
}
