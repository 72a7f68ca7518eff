import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MiB } from '@sallyport/std/bytes';

/** The revisions whose required scenarios the suite knows. */
export type Revision = '2025-11-25' | '2026-07-28';

/** One check of a scenario, as the suite reports it. */
export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

/** The checks of each scenario, by its name. */
export type SuiteRun = ReadonlyMap<string, readonly Check[]>;

const PACKAGE = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/conformance/', import.meta.url));
/** The public suite's program. */
export const SUITE = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/** The scenarios of a revision for one side, from the suite's own list: the scenarios that it counts, and the others. */
export function scenariosOf(revision: Revision, side: 'server' | 'client') {
  const text = readFileSync(join(PACKAGE, `requirements/${revision}.yaml`), 'utf8');
  const list = new RegExp(`^${side}:\\n((?: {2}- .+\\n)+)`, 'm').exec(text)?.[1] ?? '';
  const others = new RegExp(`- scenario: (\\S+)\\n +leg: ${side}`, 'g');
  return {
    counted: [...list.matchAll(/- (\S+)/g)].map(([, name]) => name as string),
    others: [...text.matchAll(others)].map(([, name]) => name as string),
  };
}

/**
 * Runs scenarios of the suite for servers of a revision, in one process.
 * @param scenario default: all that the suite knows
 */
export async function runSuite(url: string, revision: Revision, scenario?: string): Promise<SuiteRun> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-suite-'));
  const which =
    scenario === undefined ? ['--requirements', revision] : ['--scenario', scenario, '--spec-version', revision];
  try {
    await run(['server', '--url', url, ...which, '--output-dir', folder]);
    return await checksIn(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Its exit code says whether all passed, which the checks say better. */
function run(args: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SUITE, ...args], { maxBuffer: 16 * MiB }, () => resolve());
  });
}

/** Each scenario's checks are in a folder named after it and the time. */
async function checksIn(folder: string): Promise<SuiteRun> {
  const found = new Map<string, readonly Check[]>();
  for (const entry of await readdir(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/.exec(entry)?.[1];
    if (scenario === undefined) throw new Error(`the suite wrote ${entry}, which is no scenario`);
    found.set(scenario, JSON.parse(await readFile(join(folder, entry, 'checks.json'), 'utf8')) as readonly Check[]);
  }
  return found;
}

/** The checks that failed or warned. */
export const faultsIn = (checks: readonly Check[]): readonly Check[] =>
  checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
