import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findCircles } from './circles.ts';

const NODES = 7;
const pointerOf = (node: number): string => `/s${node}`;

/** True when references lead from one schema to the other. */
function leads(edges: readonly (readonly [number, number])[], from: number, to: number): boolean {
  const reached = new Set([from]);
  for (const node of reached) for (const [start, end] of edges) if (start === node) reached.add(end);
  return reached.has(to);
}

test('REG-02.4 a reference is cut exactly when it leads back to where it stands', () => {
  const node = fc.nat(NODES - 1);
  const edges = fc.array(fc.tuple(node, node), { maxLength: 14 });
  fc.assert(
    fc.property(edges, edges, (strong, weak) => {
      const root = Object.fromEntries(
        Array.from({ length: NODES }, (_, at) => {
          const targets = (of: typeof strong) =>
            of.filter(([from]) => from === at).map(([, to]) => ({ $ref: `#${pointerOf(to)}` }));
          return [`s${at}`, { allOf: targets(strong), anyOf: targets(weak) }];
        }),
      );
      const circles = findCircles(root);
      for (const [from, to] of strong)
        expect(circles.isCut(pointerOf(from), pointerOf(to), 'strong')).toBe(leads(strong, to, from));
      for (const [from, to] of weak)
        expect(circles.isCut(pointerOf(from), pointerOf(to), 'weak')).toBe(leads([...strong, ...weak], to, from));
    }),
  );
});
