import type { JsonSchemaObject } from '../../../../../api/schemas/identifiers.ts';
import { membersOf } from '../document/json.ts';

/** Size of a schema as JSON, in UTF-16 units. */
export type SchemaMeasure = (schema: JsonSchemaObject) => number;

/** Characters around a definition: the quotes of its name, a colon and a comma. */
const AROUND_CHARS = 4;

/** Measures schemas of one document. A definition is serialised once, for all operations. */
export function schemaMeasure(): SchemaMeasure {
  const known = new WeakMap<object, number>();
  const charsOf = (definition: unknown): number => {
    if (typeof definition !== 'object' || definition === null) return String(definition).length;
    let chars = known.get(definition);
    if (chars === undefined) {
      chars = JSON.stringify(definition).length;
      known.set(definition, chars);
    }
    return chars;
  };
  return ({ $defs, ...schema }) =>
    membersOf($defs).reduce((sum, [name, definition]) => sum + name.length + AROUND_CHARS + charsOf(definition), 0) +
    JSON.stringify(schema).length;
}
