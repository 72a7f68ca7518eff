/** A tool's statements about other tools, by id (REG-10). */
export interface ToolDependencies {
  readonly toolId: string;
  /** Tools that must have completed in the session before this one is offered. */
  readonly requires?: readonly string[];
  /** Tools after which this one ranks higher. */
  readonly prefers?: readonly string[];
}

/** A tool that is withheld, and the tools it waits for. */
export interface HeldTool {
  readonly toolId: string;
  readonly missing: readonly string[];
}

/** The gates' result for the available tools. */
export interface Gated {
  /** In the order in which they were given. */
  readonly open: readonly string[];
  readonly held: readonly HeldTool[];
  /** Added to the similarity of open tools, 0 to {@link BOOST_MAX}; tools without a boost are absent. */
  readonly boosts: ReadonlyMap<string, number>;
  /** Every gate was closed, so all are opened this time: an agent always has some tool. */
  readonly deadlock: boolean;
}

/** Dependencies between tools (MOD-05). */
export interface DependencyGraph {
  /**
   * Cycles that were broken, each as the ids of its tools. Their `requires` are ignored, and the `prefers` within the
   * cycle.
   */
  readonly broken: readonly { readonly kind: 'requires' | 'prefers'; readonly toolIds: readonly string[] }[];
  /** True for a tool that another one requires or prefers. */
  isNamed(toolId: string): boolean;
  /**
   * Applied after every other filter.
   * @param available tools that could be offered
   * @param completed tools that completed in this session
   * @param always tools whose gate is always open: always-on tools, and tools that the user named
   */
  gate(available: readonly string[], completed: ReadonlySet<string>, always?: ReadonlySet<string>): Gated;
}

/** What each preferred tool that completed adds to a similarity. */
export const BOOST_PER_TOOL = 0.15;
/** What all of them together add at most. */
export const BOOST_MAX = 0.2;
/** Tools that one search for a cycle visits; beyond that, none is assumed. */
export const CYCLE_STEPS_MAX = 200_000;

type Edges = ReadonlyMap<string, readonly string[]>;

/** Builds the graph; cycles are broken here, never while tools are chosen. Linear in tools and dependencies. */
export function createDependencyGraph(tools: Iterable<ToolDependencies>): DependencyGraph {
  const requires = new Map<string, readonly string[]>();
  const prefers = new Map<string, readonly string[]>();
  for (const tool of tools) {
    if (tool.requires !== undefined && tool.requires.length > 0) requires.set(tool.toolId, tool.requires);
    if (tool.prefers !== undefined && tool.prefers.length > 0) prefers.set(tool.toolId, tool.prefers);
  }
  const hard = circlesOf(requires);
  const soft = circlesOf(prefers);
  for (const toolId of hard.flat()) requires.delete(toolId);
  for (const circle of soft) {
    const within = new Set(circle);
    for (const toolId of circle)
      prefers.set(
        toolId,
        (prefers.get(toolId) ?? []).filter((id) => !within.has(id)),
      );
  }
  const named = new Set([...requires.values(), ...prefers.values()].flat());
  return {
    isNamed: (toolId) => named.has(toolId),
    broken: [
      ...hard.map((toolIds) => ({ kind: 'requires' as const, toolIds })),
      ...soft.map((toolIds) => ({ kind: 'prefers' as const, toolIds })),
    ],
    gate: (available, completed, always) => gate(requires, prefers, available, completed, always),
  };
}

function gate(
  requires: Edges,
  prefers: Edges,
  available: readonly string[],
  completed: ReadonlySet<string>,
  always: ReadonlySet<string> = new Set(),
): Gated {
  const held = available.flatMap((toolId): HeldTool[] => {
    const missing = (requires.get(toolId) ?? []).filter((id) => !completed.has(id));
    return missing.length === 0 || always.has(toolId) ? [] : [{ toolId, missing }];
  });
  const gated = available.reduce((count, toolId) => (always.has(toolId) ? count : count + 1), 0);
  const deadlock = gated > 0 && held.length === gated;
  const shut = new Set(deadlock ? [] : held.map(({ toolId }) => toolId));
  const open = available.filter((toolId) => !shut.has(toolId));
  const boosts = new Map<string, number>();
  for (const toolId of open) {
    const met = new Set(prefers.get(toolId)?.filter((id) => completed.has(id))).size;
    if (met > 0) boosts.set(toolId, Math.min(BOOST_MAX, met * BOOST_PER_TOOL));
  }
  return { open, held: deadlock ? [] : held, boosts, deadlock };
}

/**
 * The cycle that a tool would close with its dependencies: its own id, the ids on the way, and its id again. Undefined
 * when there is none.
 * @param dependsOn direct dependencies of a tool; for the tool itself its proposed ones
 */
export function circleThrough(
  toolId: string,
  dependsOn: (toolId: string) => readonly string[],
): readonly string[] | undefined {
  const cameFrom = new Map<string, string>();
  const open = [toolId];
  for (let at = open.pop(); at !== undefined && cameFrom.size < CYCLE_STEPS_MAX; at = open.pop()) {
    for (const next of dependsOn(at)) {
      if (next === toolId) return wayTo(at, toolId, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      open.push(next);
    }
  }
  return undefined;
}

function wayTo(last: string, toolId: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way = [toolId];
  for (let at: string | undefined = last; at !== undefined && at !== toolId; at = cameFrom.get(at)) way.unshift(at);
  return [toolId, ...way];
}

/** One open node of the walk, and which of its edges comes next. */
interface Frame {
  readonly id: string;
  next: number;
}

/** Sets of tools that all reach each other: Tarjan's strongly connected components, without recursion. */
function circlesOf(edges: Edges): readonly (readonly string[])[] {
  const walk: Walk = { edges, order: new Map(), low: new Map(), stack: [], onStack: new Set(), circles: [] };
  for (const root of edges.keys()) {
    if (walk.order.has(root)) continue;
    const frames = [enter(walk, root)];
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const to = edges.get(frame.id)?.[frame.next];
      frame.next += 1;
      if (to === undefined) {
        frames.pop();
        leave(walk, frame.id, frames.at(-1)?.id);
      } else if (!walk.order.has(to)) {
        frames.push(enter(walk, to));
      } else if (walk.onStack.has(to)) {
        lower(walk, frame.id, walk.order.get(to));
      }
    }
  }
  return walk.circles;
}

interface Walk {
  readonly edges: Edges;
  readonly order: Map<string, number>;
  readonly low: Map<string, number>;
  readonly stack: string[];
  readonly onStack: Set<string>;
  readonly circles: string[][];
}

function enter({ order, low, stack, onStack }: Walk, id: string): Frame {
  low.set(id, order.size);
  order.set(id, order.size);
  stack.push(id);
  onStack.add(id);
  return { id, next: 0 };
}

function lower({ low }: Walk, id: string, to = Number.POSITIVE_INFINITY): void {
  low.set(id, Math.min(low.get(id) ?? to, to));
}

function leave(walk: Walk, id: string, parent: string | undefined): void {
  const { order, low, stack, onStack, circles, edges } = walk;
  if (parent !== undefined) lower(walk, parent, low.get(id));
  if (low.get(id) !== order.get(id)) return;
  const members = stack.splice(stack.lastIndexOf(id));
  for (const member of members) onStack.delete(member);
  if (members.length > 1 || edges.get(id)?.includes(id) === true) circles.push(members);
}
