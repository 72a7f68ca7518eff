import { expect, test } from 'vitest';
import { circleThrough, createDependencyGraph } from './dependency-graph.ts';

const NOTHING: ReadonlySet<string> = new Set();

test('MOD-05.2 a tool is held back until everything that it requires completed', () => {
  const graph = createDependencyGraph([{ toolId: 'write', requires: ['read', 'list'] }, { toolId: 'read' }]);
  expect(graph.gate(['read', 'write'], NOTHING)).toMatchObject({
    open: ['read'],
    held: [{ toolId: 'write', missing: ['read', 'list'] }],
    deadlock: false,
  });
  expect(graph.gate(['read', 'write'], new Set(['read'])).held).toEqual([{ toolId: 'write', missing: ['list'] }]);
  expect(graph.gate(['read', 'write'], new Set(['read', 'list'])).open).toEqual(['read', 'write']);
});

test('MOD-05.3 each preferred tool that completed adds 0.15, all of them 0.20 at most', () => {
  const graph = createDependencyGraph([
    { toolId: 'a', prefers: ['x', 'y', 'z'] },
    { toolId: 'b', prefers: ['x', 'x'] },
  ]);
  expect(graph.gate(['a', 'b'], NOTHING).boosts).toEqual(new Map());
  expect(graph.gate(['a', 'b'], new Set(['x'])).boosts).toEqual(
    new Map([
      ['a', 0.15],
      ['b', 0.15],
    ]),
  );
  expect(graph.gate(['a'], new Set(['x', 'y'])).boosts.get('a')).toBe(0.2);
  expect(graph.gate(['a'], new Set(['x', 'y', 'z'])).boosts.get('a')).toBe(0.2);
});

test('MOD-05.4 circles of requirements are broken when the graph is built, and nothing else is', () => {
  const graph = createDependencyGraph([
    { toolId: 'a', requires: ['b'] },
    { toolId: 'b', requires: ['c', 'z'] },
    { toolId: 'c', requires: ['a'] },
    { toolId: 'd', requires: ['a'] },
    { toolId: 'self', requires: ['self'] },
  ]);
  expect(graph.broken.map(({ kind, toolIds }) => [kind, [...toolIds].sort()])).toEqual([
    ['requires', ['a', 'b', 'c']],
    ['requires', ['self']],
  ]);
  expect(graph.gate(['a', 'b', 'c', 'd', 'self'], NOTHING)).toMatchObject({
    open: ['a', 'b', 'c', 'self'],
    held: [{ toolId: 'd', missing: ['a'] }],
  });
});

test('MOD-05 a circle of preferences loses those within it alone', () => {
  const graph = createDependencyGraph([
    { toolId: 'a', prefers: ['b', 'x'] },
    { toolId: 'b', prefers: ['a'] },
  ]);
  expect(graph.broken).toHaveLength(1);
  expect(graph.gate(['a', 'b'], new Set(['a', 'b', 'x'])).boosts).toEqual(new Map([['a', 0.15]]));
});

test('MOD-05.5 an agent is never left without any tool', () => {
  const graph = createDependencyGraph([
    { toolId: 'a', requires: ['x'] },
    { toolId: 'b', requires: ['y'] },
  ]);
  expect(graph.gate(['a', 'b'], NOTHING)).toMatchObject({ open: ['a', 'b'], held: [], deadlock: true });
  expect(graph.gate(['a', 'b', 'free'], NOTHING)).toMatchObject({ open: ['free'], deadlock: false });
  expect(graph.gate([], NOTHING)).toMatchObject({ open: [], deadlock: false });
});

test('MOD-05.7 tools that are always on or were named are never held back, and keep nobody else from it', () => {
  const graph = createDependencyGraph([
    { toolId: 'a', requires: ['x'] },
    { toolId: 'b', requires: ['x'] },
  ]);
  const always = new Set(['a']);
  expect(graph.gate(['a'], NOTHING, always)).toMatchObject({ open: ['a'], deadlock: false });
  expect(graph.gate(['a', 'b'], NOTHING, always)).toMatchObject({ open: ['a', 'b'], deadlock: true });
});

test('a chain and a circle of a hundred thousand tools are walked without a deep stack', () => {
  const count = 100_000;
  const chain = Array.from({ length: count }, (_, at) => ({ toolId: `t${at}`, requires: [`t${at + 1}`] }));
  expect(createDependencyGraph(chain).broken).toEqual([]);
  const circle = chain.map((tool, at) => (at === count - 1 ? { ...tool, requires: ['t0'] } : tool));
  expect(createDependencyGraph(circle).broken[0]?.toolIds).toHaveLength(count);
});

test('names of the language are ids like others', () => {
  const graph = createDependencyGraph([{ toolId: 'constructor', requires: ['__proto__'] }]);
  expect(graph.gate(['constructor', 'toString'], NOTHING).held).toEqual([
    { toolId: 'constructor', missing: ['__proto__'] },
  ]);
});

test('the circle that a tool would close is named from itself to itself', () => {
  const edges: Record<string, string[]> = { a: ['b', 'd'], b: ['c'], c: ['a'], d: [] };
  const of = (id: string): readonly string[] => edges[id] ?? [];
  expect(circleThrough('a', of)).toEqual(['a', 'b', 'c', 'a']);
  expect(circleThrough('d', of)).toBeUndefined();
  expect(circleThrough('x', () => ['x'])).toEqual(['x', 'x']);
});
