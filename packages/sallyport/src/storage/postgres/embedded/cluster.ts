import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { MiB } from '@sallyport/std/bytes';
import { codeOf } from '@sallyport/std/error-code';
import type { PostgresBinaries } from './binaries.ts';
import { giveTo, identity, letThrough, type RunAs } from './run-as.ts';
import { folderError, startError, USE_A_SERVER } from './start-problem.ts';

/** Role that created the cluster and has all rights: nobody can connect as this role (see access.ts). */
export const SUPERUSER = 'sallyport';

/** Longest run of initdb, ms. */
const INITDB_TIMEOUT_MS = 120_000;

/**
 * Creates the cluster on first start; later only checks that this PostgreSQL can read it. A cluster appears atomically,
 * so an interrupted start is simply repeated.
 * @throws E3812 other-major-version, disk-full, folder-unusable, server-failed
 */
export async function ensureCluster(
  folder: string,
  binaries: PostgresBinaries,
  runAs: RunAs,
  onWaiting: () => void,
): Promise<void> {
  const found = await majorVersionOf(folder);
  if (found === undefined) {
    await createCluster(folder, binaries, runAs, onWaiting);
  } else if (found !== binaries.majorVersion) {
    const message = `${folder} was written by PostgreSQL ${found}, and this is PostgreSQL ${binaries.majorVersion}. Choose another data folder, or ${USE_A_SERVER}.`;
    throw startError('other-major-version', message, { folder });
  }
}

/** Undefined when the folder does not exist yet. */
async function majorVersionOf(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(join(folder, 'PG_VERSION'), 'utf8')).trim();
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw folderError(folder, cause);
    if ((await stat(folder).catch(() => undefined)) === undefined) return undefined;
    const message = `${folder} is not a PostgreSQL data folder. Move it away, or choose another data folder.`;
    throw startError('folder-unusable', message, { folder, cause });
  }
}

async function createCluster(
  folder: string,
  binaries: PostgresBinaries,
  runAs: RunAs,
  onWaiting: () => void,
): Promise<void> {
  const draft = `${folder}.new`;
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 });
    await giveTo(runAs, draft);
    await letThrough(runAs, dirname(folder));
    const made = initdb(draft, binaries, runAs);
    onWaiting();
    await made;
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    throw initdbError(folder, error);
  }
}

async function initdb(folder: string, binaries: PostgresBinaries, runAs: RunAs): Promise<void> {
  const [program = '', ...args] = [...runAs.prefix, binaries.initdb, '-D', folder, ...INITDB_ARGUMENTS];
  await promisify(execFile)(program, args, {
    ...identity(runAs),
    // TZ saves initdb the search for the machine's time zone.
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
    timeout: INITDB_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MiB,
  });
}

const INITDB_ARGUMENTS = [
  `--username=${SUPERUSER}`,
  '--auth-local=reject',
  '--auth-host=reject',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-instructions',
  // One system call for the whole file system instead of one for each of a thousand files.
  ...(process.platform === 'linux' ? ['--sync-method=syncfs'] : []),
];

function initdbError(folder: string, cause: unknown): Error {
  const output = String((cause as { readonly stderr?: string }).stderr ?? '');
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return startError('disk-full', `Data folder ${folder}: the disk is full; free some space.`, { folder, cause });
  }
  if (output === '') return folderError(folder, cause);
  const message = `PostgreSQL could not make ${folder}: ${lastLine(output)}`;
  return startError('server-failed', message, { folder, cause });
}

/** The line with the cause, without those about the removal afterwards. */
function lastLine(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines.find((line) => /error|fatal/i.test(line)) ?? lines.at(-1) ?? '';
}
