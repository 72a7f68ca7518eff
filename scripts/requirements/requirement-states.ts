import type { Requirement } from '../../test/requirements.ts';
import type { Citation } from './cited-requirements.ts';

/** A citation and the file that it stands in. */
export interface PlacedCitation extends Citation {
  readonly file: string;
}

/**
 * How far a clause or a row is proven. A row is `partly` proven when some of its clauses are not, and `skipped here` when
 * what is missing is cited by tests that skipped themselves on this machine. A behaviour that some test expects to fail is
 * not proven, whatever other tests hold of it.
 */
export type RequirementState = 'proven' | 'partly' | 'skipped here' | 'expected-failure' | 'unproven';

/** One clause of the report. */
export interface ClauseRow {
  /** For example PIPE-04.2. */
  readonly id: string;
  readonly clause: string;
  readonly state: Exclude<RequirementState, 'partly'>;
  /** `file: name` of each test that proves it, or is expected to. Tests that are switched off are not listed. */
  readonly tests: readonly string[];
}

/** One row of the report. */
export interface RequirementRow {
  readonly id: string;
  readonly state: RequirementState;
  /** `file: name` of each test that cites the row or one of its clauses. */
  readonly tests: readonly string[];
  readonly clauses: readonly ClauseRow[];
}

/**
 * The report over all requirements, in their order.
 * @param isSkippedHere true for a test that skipped itself in the last run on this machine
 */
export function requirementRows(
  requirements: readonly Requirement[],
  citations: readonly PlacedCitation[],
  isSkippedHere: (citation: PlacedCitation) => boolean = () => false,
): RequirementRow[] {
  const byId = citationsById(citations);
  return requirements.map(({ id, clauses }) => {
    const rows = clauses.map((clause, at): ClauseRow => {
      const cited = byId.get(`${id}.${at + 1}`) ?? [];
      return { id: `${id}.${at + 1}`, clause, state: stateOfClause(cited, isSkippedHere), tests: cited.map(testOf) };
    });
    const cited = new Set([...(byId.get(id) ?? []).map(testOf), ...rows.flatMap(({ tests }) => tests)]);
    return { id, state: stateOfRow(rows, cited.size > 0), tests: [...cited], clauses: rows };
  });
}

/** Citations of rows and clauses that no requirement has, as `file:line: id`. */
export function unknownCitations(requirements: readonly Requirement[], citations: readonly PlacedCitation[]): string[] {
  const known = new Set(requirements.flatMap(({ id, clauses }) => [id, ...clauses.map((_, at) => `${id}.${at + 1}`)]));
  return citations.flatMap(({ file, line, ids: cited }) =>
    cited.filter((id) => !known.has(id)).map((id) => `${file}:${line}: ${id}`),
  );
}

function citationsById(citations: readonly PlacedCitation[]): ReadonlyMap<string, PlacedCitation[]> {
  const byId = new Map<string, PlacedCitation[]>();
  for (const citation of citations) {
    if (citation.kind === 'skipped') continue;
    for (const id of citation.ids) byId.set(id, [...(byId.get(id) ?? []), citation]);
  }
  return byId;
}

const testOf = ({ file, name }: PlacedCitation): string => `${file}: ${name}`;

function stateOfClause(
  cited: readonly PlacedCitation[],
  isSkippedHere: (citation: PlacedCitation) => boolean,
): ClauseRow['state'] {
  if (cited.length === 0) return 'unproven';
  if (cited.some(({ kind }) => kind === 'expected-failure')) return 'expected-failure';
  return cited.every(isSkippedHere) ? 'skipped here' : 'proven';
}

function stateOfRow(clauses: readonly ClauseRow[], isCited: boolean): RequirementState {
  const states = new Set(clauses.map(({ state }) => state));
  if (states.has('expected-failure')) return 'expected-failure';
  if (!states.has('unproven')) return states.has('skipped here') ? 'skipped here' : 'proven';
  return isCited ? 'partly' : 'unproven';
}
