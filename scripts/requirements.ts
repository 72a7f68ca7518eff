// npm run requirements [-- --json | --clauses]: which requirements are proven by a test, as JSON, or clause by clause. Ends
// with 1 when a test cites an unknown id.
import { REQUIREMENTS } from '../test/requirements.ts';
import { codeFiles, readProjectFile } from './project-files.ts';
import { citationsIn } from './requirements/cited-requirements.ts';
import { readLastRun, skippedIn } from './requirements/last-run.ts';
import {
  type PlacedCitation,
  type RequirementRow,
  type RequirementState,
  requirementRows,
  unknownCitations,
} from './requirements/requirement-states.ts';

/** Folders that hold tests. */
const FOLDERS = ['packages', 'test', 'scripts', 'examples'];

/** Every citation in the tests of the project. */
export function projectCitations(): PlacedCitation[] {
  const groups = new Set(REQUIREMENTS.map(({ id }) => id.replace(/-.*/, '')));
  return codeFiles(FOLDERS)
    .filter((path) => /\.(?:test|conformance)\.ts$|-cases\.ts$|^(?:test|examples)\//.test(path))
    .flatMap((file) => citationsIn(readProjectFile(file), groups).map((citation) => ({ ...citation, file })));
}

const TITLES: Readonly<Record<RequirementState, string>> = {
  proven: 'proven',
  partly: 'partly',
  'skipped here': 'skipped here',
  'expected-failure': 'expected to fail',
  unproven: 'unproven',
};

function table(rows: readonly RequirementRow[], everyClause: boolean): string {
  const line = (id: string, state: RequirementState, rest: string) =>
    `${id.padEnd(10)}  ${TITLES[state].padEnd(16)}  ${rest}`.trimEnd();
  const lines = rows.flatMap(({ id, state, tests, clauses }) => {
    const proven = clauses.filter((clause) => clause.state === 'proven').length;
    const own = line(id, state, `${proven} of ${clauses.length} clauses, ${tests.length} tests`);
    return everyClause ? [own, ...clauses.map((each) => line(`  ${each.id}`, each.state, each.clause))] : [own];
  });
  return [...lines, '', `${rows.length} requirements: ${countsOf(rows)}`].join('\n');
}

const countsOf = (rows: readonly { readonly state: RequirementState }[]): string =>
  (Object.keys(TITLES) as RequirementState[])
    .map((state) => `${rows.filter((row) => row.state === state).length} ${TITLES[state]}`)
    .join(', ');

function main(): void {
  const citations = projectCitations();
  const run = readLastRun();
  const rows = requirementRows(REQUIREMENTS, citations, run === undefined ? undefined : skippedIn(run));
  if (process.argv.includes('--json')) console.log(JSON.stringify({ rows }, undefined, 2));
  else {
    const clauses = rows.flatMap((row) => row.clauses);
    console.log(`${table(rows, process.argv.includes('--clauses'))}\n${clauses.length} clauses: ${countsOf(clauses)}`);
    console.log(
      run === undefined
        ? 'No whole test run on this machine yet: tests that skip themselves count as run.'
        : `Skipped here: as in the test run of ${run.at}.`,
    );
  }
  const unknown = unknownCitations(REQUIREMENTS, citations);
  if (unknown.length === 0) return;
  console.error(`Tests cite ids that test/requirements.ts does not have:\n${unknown.join('\n')}`);
  process.exitCode = 1;
}

if (import.meta.main) main();
