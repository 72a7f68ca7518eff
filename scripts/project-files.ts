import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** A file or folder of the project; the path is relative to the root and has forward slashes. */
export interface ProjectEntry {
  readonly path: string;
  readonly isFolder: boolean;
}

/** Everything under the given folders (default: the whole project) that is not ignored by .gitignore, in order of path. */
export function projectEntries(folders: readonly string[] = ['.'], root: string = ROOT): ProjectEntry[] {
  const ignored = ignoredNames(root);
  const entries = folders.flatMap((folder) => entriesIn(root, join(root, folder), ignored));
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Paths of the code of the project: TypeScript and JavaScript modules under the given folders. */
export function codeFiles(folders?: readonly string[], root: string = ROOT): string[] {
  return projectEntries(folders, root)
    .filter(({ path, isFolder }) => !isFolder && /\.(?:ts|tsx|mts|mjs|js)$/.test(path))
    .map(({ path }) => path);
}

/** Text of a file of the project. */
export function readProjectFile(path: string, root: string = ROOT): string {
  return readFileSync(join(root, path), 'utf8');
}

function entriesIn(root: string, folder: string, ignored: ReadonlySet<string>): ProjectEntry[] {
  return listing(folder).flatMap((entry) => {
    if (ignored.has(entry.name) || entry.isSymbolicLink()) return [];
    const path = join(folder, entry.name);
    const self = { path: relative(root, path).split(sep).join('/'), isFolder: entry.isDirectory() };
    return entry.isDirectory() ? [self, ...entriesIn(root, path, ignored)] : [self];
  });
}

function listing(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Names of .gitignore that stand for a file or folder at any depth, as all of ours do. */
function ignoredNames(root: string): Set<string> {
  const lines = readProjectFile('.gitignore', root).split('\n');
  return new Set(['.git', ...lines.map((line) => line.trim().replace(/^\/|\/$/g, '')).filter((line) => line !== '')]);
}
