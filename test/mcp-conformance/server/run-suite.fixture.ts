import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import { ROOT } from '../../../scripts/project-files.ts';

/** The revisions whose required scenarios the suite knows. */
export type Revision = '2025-11-25' | '2026-07-28';

/** One check of a scenario, as the suite reports it. */
export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** Runs all scenarios that a revision requires of servers; returns the checks of each by its name. */
export async function runSuite(url: string, revision: Revision): Promise<ReadonlyMap<string, readonly Check[]>> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-suite-'));
  try {
    await run(['server', '--url', url, '--requirements', revision, '--output-dir', folder]);
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
async function checksIn(folder: string): Promise<ReadonlyMap<string, readonly Check[]>> {
  const found = new Map<string, readonly Check[]>();
  for (const entry of await readdir(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/.exec(entry)?.[1];
    if (scenario === undefined) throw new Error(`the suite wrote ${entry}, which is no scenario`);
    found.set(scenario, JSON.parse(await readFile(join(folder, entry, 'checks.json'), 'utf8')) as readonly Check[]);
  }
  return found;
}

/** Names of the scenarios with a check that failed or warned, each with what the suite says of these checks. */
export function failuresIn(checks: ReadonlyMap<string, readonly Check[]>): ReadonlyMap<string, readonly string[]> {
  const failed = [...checks].map(([scenario, all]) => {
    const bad = all.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    return [scenario, bad.map(({ id, errorMessage = '' }) => `${id}: ${errorMessage}`)] as const;
  });
  return new Map(failed.filter(([, bad]) => bad.length > 0));
}
