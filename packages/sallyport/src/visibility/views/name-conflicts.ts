import type { ToolView, ViewTool } from '../../../api/schemas/visibility.ts';
import type { Sourced } from './origin.ts';

/** A tool that claims a name in a view. */
export interface Candidate extends Sourced {
  readonly name: string;
  /** Place of its source in the view. */
  readonly rank: number;
  /** True when the view gives it this name, which is not its own. */
  readonly renamed: boolean;
  readonly rule?: ViewTool;
}

/** The tool that gets a name, and those that do not. */
export interface Assignment {
  readonly assigned?: Candidate;
  readonly refused: readonly { readonly candidate: Candidate; readonly reason: string }[];
}

/**
 * Assigns a name to one of its claimants, or to none: `manual` to none, `priority` to the earliest source, and
 * `prefix`, where only a given name can collide, to the tool whose own name it is.
 */
export function assignName(wanting: readonly Candidate[], conflict: ToolView['conflict']): Assignment {
  const [only, ...others] = wanting;
  if (only !== undefined && others.length === 0) return { assigned: only, refused: [] };
  if (conflict === 'manual') {
    const all = wanting.map(idOf).join(', ');
    return { refused: wanting.map((candidate) => ({ candidate, reason: `${candidate.name} is wanted by ${all}.` })) };
  }
  const [assigned, ...refused] = wanting.toSorted(
    (a, b) =>
      (conflict === 'prefix' ? 0 : a.rank - b.rank) ||
      Number(a.renamed) - Number(b.renamed) ||
      a.rank - b.rank ||
      (idOf(a) < idOf(b) ? -1 : 1),
  );
  if (assigned === undefined) return { refused: [] };
  const reason = `${assigned.name} went to ${idOf(assigned)}.`;
  return { assigned, refused: refused.map((candidate) => ({ candidate, reason })) };
}

const idOf = ({ tool }: Candidate): string => tool.manifest.tool_id;
