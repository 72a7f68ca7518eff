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

/** Levels of nesting that are looked through for references: all that are converted. */
const DEPTH_MAX = 48;

/** Finds cycles among the definitions of one document. */
export function findCircles(root: Node): Circles {
  const edges = new Map<string, SameValue>();
  const edgesOf = (pointer: string): SameValue => {
    let found = edges.get(pointer);
    if (found === undefined) {
      found = sameValueReferences(root, pointer);
      edges.set(pointer, found);
    }
    return found;
  };
  const strongCircleOf = circlesAlong((pointer) => edgesOf(pointer).strong);
  const circleOf = circlesAlong((pointer) => edgesOf(pointer).strong.union(edgesOf(pointer).weak));
  return {
    // Alternatives that lead back are cut first, so the remaining cuts follow strong references alone.
    isCut: (from, to, strength) =>
      strength === 'weak' ? circleOf(from) === circleOf(to) : strongCircleOf(from) === strongCircleOf(to),
  };
}

/** A pointer on the way from the first one, and the references of it that are still to be followed. */
interface Step {
  readonly pointer: string;
  readonly targets: Iterator<string>;
  /** Lowest number of a pointer on the way to which this one leads. */
  lowest: number;
}

/**
 * The circle that a pointer stands in, as a number: two have the same one when each leads to the other (the strongly
 * connected components of Tarjan, in time linear in the references; without recursion, since chains may be long).
 */
function circlesAlong(next: (pointer: string) => ReadonlySet<string>): (pointer: string) => number {
  const numbers = new Map<string, number>();
  const circles = new Map<string, number>();
  /** Pointers whose circle is not known yet. */
  const open: string[] = [];
  const begin = (pointer: string): Step => {
    const lowest = numbers.size;
    numbers.set(pointer, lowest);
    open.push(pointer);
    return { pointer, targets: next(pointer).values(), lowest };
  };
  const end = ({ pointer, lowest }: Step): void => {
    if (lowest !== numbers.get(pointer)) return;
    for (const each of open.splice(open.lastIndexOf(pointer))) circles.set(each, lowest);
  };
  const follow = (start: string): void => {
    const way = [begin(start)];
    for (let step = way.at(-1); step !== undefined; step = way.at(-1)) {
      const { value: target, done } = step.targets.next();
      if (done === true) {
        way.pop();
        end(step);
        const before = way.at(-1);
        if (before !== undefined) before.lowest = Math.min(before.lowest, step.lowest);
      } else if (!numbers.has(target)) way.push(begin(target));
      else if (!circles.has(target)) step.lowest = Math.min(step.lowest, numbers.get(target) ?? step.lowest);
    }
  };
  return (pointer) => {
    if (!circles.has(pointer)) follow(pointer);
    return circles.get(pointer) ?? -1;
  };
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
