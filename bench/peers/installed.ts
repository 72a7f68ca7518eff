import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const FOLDER = join(import.meta.dirname, '..');
const INSTALL = ['ci', '--prefix', FOLDER, '--no-audit', '--no-fund'] as const;
/** For people, from the root of the project. */
const COMMAND = 'npm ci --prefix bench';
const INSTALL_MS_MAX = 300_000;

interface Package {
  readonly version?: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Installs the peers where they are missing or of another version. Without them the benchmark goes on and says so. */
export async function ensurePeers(report: (line: string) => void): Promise<void> {
  if (missingPeers().length === 0) return;
  report(`Installing the peers: ${COMMAND}`);
  try {
    await promisify(execFile)('npm', INSTALL, { timeout: INSTALL_MS_MAX });
  } catch (error) {
    report(`They could not be installed (${firstLine(error)}). Type: ${COMMAND}`);
  }
}

/**
 * Path of a peer's program.
 * @throws Error that says how to install it
 */
export function peerProgram(name: string): string {
  const program = packageOf(name)?.bin?.[name];
  if (program === undefined) throw new Error(`not installed, type: ${COMMAND}`);
  return join(FOLDER, 'node_modules', name, program);
}

function missingPeers(): string[] {
  const wanted = Object.entries(read(join(FOLDER, 'package.json'))?.dependencies ?? {});
  return wanted.filter(([name, version]) => packageOf(name)?.version !== version).map(([name]) => name);
}

function packageOf(name: string): Package | undefined {
  return read(join(FOLDER, 'node_modules', name, 'package.json'));
}

function read(file: string): Package | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Package;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n')[0] ?? '';
}
