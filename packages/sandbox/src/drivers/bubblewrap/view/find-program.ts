import { accessSync, constants, existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { SandboxSpec } from '../../../driver.port.ts';
import { DEFAULT_PATH } from '../../../linux/made-up-files.ts';
import type { Mount } from '../../../linux/mounts.ts';

/** Shells' exit codes for a program that does not exist, and for one that cannot be executed. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
const BASE = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/**
 * Why the program of a spec could not be run, as a shell's exit code; undefined when it looks runnable, so that
 * something else failed. Used only after a failure: bubblewrap does not distinguish these cases.
 */
export function programFault(spec: SandboxSpec, mounts: readonly Mount[]): 126 | 127 | undefined {
  const [program] = spec.command;
  const folders = program.includes('/') ? [''] : (spec.environment['PATH'] ?? DEFAULT_PATH).split(':');
  const candidates = folders
    .map((folder) => (isAbsolute(program) ? program : join(folder || (spec.workingDirectory ?? '/'), program)))
    .flatMap((path) => hostPath(path, mounts));
  if (candidates.some(isExecutable)) return undefined;
  return candidates.some((path) => existsSync(path)) ? NOT_EXECUTABLE : NOT_FOUND;
}

function hostPath(path: string, mounts: readonly Mount[]): string[] {
  const shown = [...mounts.map((mount) => mount.path), ...BASE];
  return shown.some((folder) => isWithin(path, folder)) ? [path] : [];
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
