// npm run requirements [-- --json]: which requirements are proven by a test. Ends with 1 when a test cites an unknown id.
import { REQUIREMENTS } from '../test/requirements.ts';
import { citationsIn } from './cited-requirements.ts';
import { codeFiles, readProjectFile } from './project-files.ts';
import {
  type PlacedCitation,
  type RequirementRow,
  type RequirementState,
  requirementRows,
  unknownCitations,
} from './requirement-states.ts';

/** Folders that hold tests. */
const FOLDERS = ['packages', 'test', 'scripts', 'examples'];

/** Every citation in the tests of the project. */
export function projectCitations(): PlacedCitation[] {
  const groups = new Set(REQUIREMENTS.map(({ id }) => id.replace(/-.*/, '')));
  return codeFiles(FOLDERS)
    .filter((path) => /\.(?:test|conformance)\.ts$|^(?:test|examples)\//.test(path))
    .flatMap((file) => citationsIn(readProjectFile(file), groups).map((citation) => ({ ...citation, file })));
}

const TITLES: Readonly<Record<RequirementState, string>> = {
  proven: 'proven',
  'expected-failure': 'expected to fail',
  unproven: 'unproven',
};

function table(rows: readonly RequirementRow[]): string {
  const lines = rows.map(({ id, state, tests }) => {
    const count = tests.length === 0 ? '' : `${tests.length} test${tests.length === 1 ? '' : 's'}`;
    return `${id.padEnd(8)}  ${TITLES[state].padEnd(16)}  ${count}`.trimEnd();
  });
  const counts = (Object.keys(TITLES) as RequirementState[]).map(
    (state) => `${rows.filter((row) => row.state === state).length} ${TITLES[state]}`,
  );
  return [...lines, '', `${rows.length} requirements: ${counts.join(', ')}`].join('\n');
}

function main(): void {
  const ids = REQUIREMENTS.map(({ id }) => id);
  const citations = projectCitations();
  const rows = requirementRows(ids, citations);
  console.log(process.argv.includes('--json') ? JSON.stringify({ rows }, undefined, 2) : table(rows));
  const unknown = unknownCitations(ids, citations);
  if (unknown.length === 0) return;
  console.error(`Tests cite ids that test/requirements.ts does not have:\n${unknown.join('\n')}`);
  process.exitCode = 1;
}

if (import.meta.main) main();
