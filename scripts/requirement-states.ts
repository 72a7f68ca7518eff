import type { Citation } from './cited-requirements.ts';

/** A citation and the file that it stands in. */
export interface PlacedCitation extends Citation {
  readonly file: string;
}

/** How far a requirement is proven. A behaviour that some test expects to fail is not proven, whatever others hold of it. */
export type RequirementState = 'proven' | 'expected-failure' | 'unproven';

/** One row of the report. */
export interface RequirementRow {
  readonly id: string;
  readonly state: RequirementState;
  /** `file: name` of each test that proves it, or is expected to. Tests that are switched off are not listed. */
  readonly tests: readonly string[];
}

/** The report over all requirements, in their order. */
export function requirementRows(ids: readonly string[], citations: readonly PlacedCitation[]): RequirementRow[] {
  return ids.map((id) => {
    const cited = citations.filter((citation) => citation.kind !== 'skipped' && citation.ids.includes(id));
    return { id, state: stateOf(cited), tests: cited.map(({ file, name }) => `${file}: ${name}`) };
  });
}

/** Citations of ids that no requirement has, as `file:line: id`. */
export function unknownCitations(ids: readonly string[], citations: readonly PlacedCitation[]): string[] {
  const known = new Set(ids);
  return citations.flatMap(({ file, line, ids: cited }) =>
    cited.filter((id) => !known.has(id)).map((id) => `${file}:${line}: ${id}`),
  );
}

function stateOf(cited: readonly PlacedCitation[]): RequirementState {
  if (cited.length === 0) return 'unproven';
  return cited.some(({ kind }) => kind === 'expected-failure') ? 'expected-failure' : 'proven';
}
