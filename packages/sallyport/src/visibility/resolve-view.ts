import type { ToolView, ViewSource, ViewTool } from '../../api/schemas/visibility.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';
import { type Assignment, assignName, type Candidate } from './views/name-conflicts.ts';
import { bySource, type Sourced } from './views/origin.ts';
import { type Selection, selectionOf } from './views/selection.ts';

/** A tool under its name in a view. */
export interface ViewEntry {
  readonly name: string;
  /** The version that lists show; a call may choose another by range, unless the rule pins one. */
  readonly tool: ToolVersion;
  /** The view's rule about this tool. */
  readonly rule?: ViewTool;
}

/** A tool that the view drops, and the reason. */
export interface Dropped {
  readonly source: string;
  /** The source's name of it. */
  readonly tool: string;
  readonly toolId?: string;
  /** The name it would have had. */
  readonly name?: string;
  readonly reason: string;
}

/** Result of applying a view to the current tools. */
export interface ResolvedView {
  readonly entries: ReadonlyMap<string, ViewEntry>;
  readonly dropped: readonly Dropped[];
}

/** The tools of a tenant that a view is applied to. */
export interface TenantTools {
  /** The newest version of each that is available to the tenant, ordered by id. */
  readonly tools: readonly ToolVersion[];
  /** True when the tenant has a tool with this id, available or not. */
  readonly isId: (name: string) => boolean;
}

/** Pattern of tool ids, api/schemas/identifiers.ts. */
const TOOL_ID = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,126}[A-Za-z0-9_])?$/;

/**
 * Applies a view (REG-13). A tool is dropped, with the reason in `dropped`, when its definition differs from the pinned
 * one, when its name cannot be a tool id, is another tool's id, or went to another tool by the conflict strategy.
 */
export function resolveView(view: ToolView, { tools, isId }: TenantTools): ResolvedView {
  const { wanting, dropped } = candidatesOf(view, tools, isId);
  const entries = new Map<string, ViewEntry>();
  for (const [name, candidates] of wanting) {
    const { assigned, refused } = assigneeOf(name, candidates, view, isId);
    if (assigned !== undefined) {
      const { tool, rule } = assigned;
      entries.set(name, rule === undefined ? { name, tool } : { name, tool, rule });
    }
    dropped.push(...refused.map(({ candidate, reason }) => droppedOf(candidate, reason)));
  }
  return { entries, dropped };
}

interface Candidates {
  /** By wanted name. */
  readonly wanting: ReadonlyMap<string, readonly Candidate[]>;
  readonly dropped: Dropped[];
}

function candidatesOf(view: ToolView, tools: readonly ToolVersion[], isId: TenantTools['isId']): Candidates {
  const sources = bySource(tools);
  const dropped: Dropped[] = [];
  const wanting = new Map<string, Candidate[]>();
  for (const [rank, source] of view.sources.entries()) {
    const selection = selectionOf(source);
    const there = sources.get(source.source) ?? [];
    dropped.push(...missing(source, selection, there));
    for (const sourced of there) {
      if (!selection.takes(sourced.origin.tool)) continue;
      const candidate = candidateOf(view, sourced, selection.rules.get(sourced.origin.tool), rank);
      const fault = pinFault(candidate) ?? nameFault(candidate, isId);
      const known = wanting.get(candidate.name);
      if (fault !== undefined) dropped.push(droppedOf(candidate, fault));
      else if (known === undefined) wanting.set(candidate.name, [candidate]);
      else known.push(candidate);
    }
  }
  return { wanting, dropped };
}

/** A caller who knows a tool by its id must not reach another one by it, unless the strategy gave that name away. */
function assigneeOf(
  name: string,
  candidates: readonly Candidate[],
  { conflict }: ToolView,
  isId: TenantTools['isId'],
): Assignment {
  const foreign = isId(name) && !candidates.some(({ tool }) => tool.manifest.tool_id === name);
  if (!foreign) return assignName(candidates, conflict);
  return { refused: candidates.map((candidate) => ({ candidate, reason: isAnotherTool(name) })) };
}

/** Rules about tools that the source lacks now. */
function missing({ source }: ViewSource, { rules }: Selection, there: readonly Sourced[]): readonly Dropped[] {
  if (rules.size === 0) return [];
  const known = new Set(there.map(({ origin }) => origin.tool));
  const gone = [...rules.keys()].filter((tool) => !known.has(tool));
  return gone.map((tool) => ({ source, tool, reason: 'The source has no such tool that is available to the tenant.' }));
}

function candidateOf(view: ToolView, sourced: Sourced, rule: ViewTool | undefined, rank: number): Candidate {
  const { manifest } = sourced.tool;
  const own = view.conflict === 'prefix' ? manifest.tool_id : sourced.origin.bareName;
  const name = rule?.name ?? own;
  return { ...sourced, name, rank, renamed: name !== own, ...(rule === undefined ? {} : { rule }) };
}

function pinFault({ tool: { contentHash }, rule }: Candidate): string | undefined {
  const pinned = rule?.content_hash;
  if (pinned === undefined || pinned === contentHash) return undefined;
  return `Its definition changed: the view pins ${pinned}, the tool has ${contentHash} now.`;
}

function nameFault({ name, tool, renamed }: Candidate, isId: TenantTools['isId']): string | undefined {
  if (name === tool.manifest.tool_id) return undefined;
  if (!TOOL_ID.test(name)) return `${JSON.stringify(name)} cannot be a tool id; give it a name.`;
  return renamed && isId(name) ? isAnotherTool(name) : undefined;
}

const isAnotherTool = (name: string): string => `${name} is the id of another tool.`;

const droppedOf = ({ origin, tool, name }: Candidate, reason: string): Dropped => ({
  source: origin.source,
  tool: origin.tool,
  toolId: tool.manifest.tool_id,
  name,
  reason,
});
