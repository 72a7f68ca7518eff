import { isNamed, isNode, type SchemaNode, type SchemaPlaces } from './schema-places.ts';

/**
 * Renames the members of a value that the schemas of their place declare; undeclared members keep their names. The same
 * object when nothing is renamed.
 * @param names old to new
 * @param twice called with a member whose new name another member has already
 */
export function renameMembers(
  value: unknown,
  schemas: readonly SchemaNode[],
  places: SchemaPlaces,
  names: ReadonlyMap<string, string>,
  twice: (pointer: readonly string[], name: string) => void = () => {},
  at: readonly string[] = [],
): unknown {
  if (schemas.length === 0) return value;
  if (Array.isArray(value)) {
    return same(
      value,
      value.map((one, index) =>
        renameMembers(one, places.element(schemas, index), places, names, twice, [...at, String(index)]),
      ),
    );
  }
  if (!isNode(value)) return value;
  let changed = false;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    const below = renameMembers(member, places.member(schemas, name), places, names, twice, [...at, name]);
    const other = isNamed(schemas, name) ? names.get(name) : undefined;
    if (other !== undefined && Object.hasOwn(value, other)) twice(at, name);
    changed ||= below !== member || other !== undefined;
    return [other ?? name, below];
  });
  return changed ? Object.fromEntries(members) : value;
}

const same = (before: readonly unknown[], after: readonly unknown[]): unknown =>
  after.every((one, index) => one === before[index]) ? before : after;
