// What the project needs beside npm packages. `node scripts/machine/system-packages.ts` installs what is missing where it may.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runCommand } from '../run-command.ts';

/** A package of the operating system. */
export interface SystemPackage {
  /** Name for apt on Debian and Ubuntu. */
  readonly package: string;
  /** Program by which its presence is known. */
  readonly command: string;
  readonly purpose: string;
  /** What goes without it. */
  readonly absence: string;
}

export const SYSTEM_PACKAGES: readonly SystemPackage[] = [
  {
    package: 'bubblewrap',
    command: 'bwrap',
    purpose: 'runs shell tools and stdio MCP servers in a sandbox',
    absence: 'shell tools and stdio MCP servers are refused; everything else works',
  },
];

/** What `ensureSystemPackages` found and did. */
export interface SystemPackageReport {
  /** Packages that are still missing. */
  readonly missing: readonly SystemPackage[];
  readonly installed: readonly SystemPackage[];
  /** What to type for the missing ones; absent when nothing is missing. */
  readonly advice?: string;
}

/** The machine as this module sees it; tests give another. */
export interface Machine {
  /** Folders in which programs are looked for. */
  readonly path: readonly string[];
  /** Whether packages may be installed: root on a system with apt. */
  readonly mayInstall: boolean;
  readonly run: (
    command: readonly [string, ...string[]],
  ) => Promise<{ readonly code: number; readonly output: string }>;
}

const INSTALL_TIMEOUT_MS = 600_000;

/**
 * Sees to it that the packages are there. Takes a few ms when they are.
 * @param options.install installs what is missing when that is allowed; else only says what is missing and what to type
 */
export async function ensureSystemPackages(
  options: { readonly install: boolean },
  machine: Machine = thisMachine(),
): Promise<SystemPackageReport> {
  const absent = SYSTEM_PACKAGES.filter(({ command }) => !isOnPath(command, machine.path));
  if (absent.length === 0) return { missing: [], installed: [] };
  const output = options.install && machine.mayInstall ? await install(absent, machine) : '';
  const missing = SYSTEM_PACKAGES.filter(({ command }) => !isOnPath(command, machine.path));
  const installed = absent.filter((entry) => !missing.includes(entry));
  return missing.length === 0 ? { missing, installed } : { missing, installed, advice: adviceFor(missing, output) };
}

async function install(packages: readonly SystemPackage[], machine: Machine): Promise<string> {
  const update = await machine.run(['apt-get', 'update', '-q']);
  const names = packages.map((entry) => entry.package);
  const { code, output } = await machine.run(['apt-get', 'install', '-q', '-y', '--no-install-recommends', ...names]);
  return code === 0 ? '' : `${update.code === 0 ? '' : update.output}${output}`;
}

function adviceFor(missing: readonly SystemPackage[], output: string): string {
  const lines = missing.map((entry) => `${entry.package} is missing (${entry.purpose}): ${entry.absence}.`);
  const names = missing.map((entry) => entry.package).join(' ');
  const tail = output === '' ? [] : ['apt-get said:', output.trim().split('\n').slice(-5).join('\n')];
  return [...lines, ...tail, `Type: sudo apt-get update && sudo apt-get install -y ${names}`].join('\n');
}

function thisMachine(): Machine {
  const path = (process.env['PATH'] ?? '').split(delimiter);
  return {
    path,
    mayInstall: process.getuid?.() === 0 && isOnPath('apt-get', path),
    run: (command) =>
      runCommand(command, { env: { DEBIAN_FRONTEND: 'noninteractive' }, timeoutMs: INSTALL_TIMEOUT_MS }),
  };
}

function isOnPath(command: string, path: readonly string[]): boolean {
  return path.some((folder) => {
    const file = join(folder, command);
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}

if (import.meta.main) void main();

async function main(): Promise<void> {
  const { installed, advice } = await ensureSystemPackages({ install: true });
  for (const entry of installed) console.log(`installed ${entry.package}: ${entry.purpose}`);
  if (advice !== undefined) console.log(advice);
}
