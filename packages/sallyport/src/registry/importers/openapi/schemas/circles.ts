import { asList, asNode, membersOf, type Node } from '../document/json.ts';
import { atPointer, localPointer } from '../document/reference.ts';

/**
 * References of a schema that apply to the same value as the schema itself. A cycle of them never ends: a validator
 * that follows it exhausts its stack, so the cycle is cut while converting.
 */
interface SameValue {
  /** Through `$ref`, `allOf`, `not`, `if`, `then`, `else`, `dependentSchemas`. */
  readonly strong: ReadonlySet<string>;
  /** Through `anyOf` and `oneOf`: alternatives, which are cut first, since that loses the least. */
  readonly weak: ReadonlySet<string>;
}

/** Decides which references to cut. Answers are cached per document. */
export interface Circles {
  /** True when the definition at `from` may not refer to the one at `to` for the same value. */
  isCut(from: string, to: string, strength: 'strong' | 'weak'): boolean;
}

/** Levels of nesting that are looked through for references. */
const DEPTH_MAX = 32;

/** Finds cycles among the definitions of one document. */
export function findCircles(root: Node): Circles {
  const edges = new Map<string, SameValue>();
  const reachedStrong = new Map<string, ReadonlySet<string>>();
  const reachedAny = new Map<string, ReadonlySet<string>>();

  const edgesOf = (pointer: string): SameValue => {
    let found = edges.get(pointer);
    if (found === undefined) {
      found = sameValueReferences(root, pointer);
      edges.set(pointer, found);
    }
    return found;
  };
  const strongOf = (pointer: string): Iterable<string> => edgesOf(pointer).strong;
  const allOf = (pointer: string): Iterable<string> => {
    const { strong, weak } = edgesOf(pointer);
    return strong.union(weak);
  };
  return {
    isCut(from, to, strength) {
      // Alternatives that lead back are cut first, so the remaining cuts follow strong references alone.
      if (strength === 'weak') return reach(to, allOf, reachedAny).has(from);
      return reach(to, strongOf, reachedStrong).has(from);
    },
  };
}

function reach(
  start: string,
  next: (pointer: string) => Iterable<string>,
  known: Map<string, ReadonlySet<string>>,
): ReadonlySet<string> {
  const before = known.get(start);
  if (before !== undefined) return before;
  const reached = new Set([start]);
  // A Set also iterates over members that are added during the iteration.
  for (const pointer of reached) for (const target of next(pointer)) reached.add(target);
  known.set(start, reached);
  return reached;
}

function sameValueReferences(root: Node, pointer: string): SameValue {
  const strong = new Set<string>();
  const weak = new Set<string>();
  const walk = (value: unknown, into: Set<string>, depth: number): void => {
    const schema = asNode(value);
    if (schema === undefined || depth > DEPTH_MAX) return;
    const reference = schema['$ref'];
    if (typeof reference === 'string') addLocal(into, reference);
    for (const keyword of ['not', 'if', 'then', 'else']) walk(schema[keyword], into, depth + 1);
    for (const part of asList(schema['allOf'])) walk(part, into, depth + 1);
    for (const [, part] of membersOf(schema['dependentSchemas'])) walk(part, into, depth + 1);
    for (const part of [...asList(schema['anyOf']), ...asList(schema['oneOf'])]) walk(part, weak, depth + 1);
  };
  walk(
    quietly(() => atPointer(root, pointer)),
    strong,
    0,
  );
  return { strong, weak };
}

function addLocal(into: Set<string>, reference: string): void {
  const pointer = quietly(() => localPointer(reference));
  if (pointer !== undefined) into.add(pointer);
}

/** References that lead nowhere are reported during conversion. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
