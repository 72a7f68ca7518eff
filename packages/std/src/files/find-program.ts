import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Absolute path of a program, searched in the absolute folders of PATH; undefined when none is executable. */
export function findProgram(name: string): string | undefined {
  const folders = isAbsolute(name) ? [''] : (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  return folders.map((folder) => (folder === '' ? name : join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
