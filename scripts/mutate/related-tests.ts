import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeFiles, ROOT, readProjectFile } from '../project-files.ts';

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;
const PACKAGE = /^(sallyport|@sallyport\/[a-z]+)(?:\/(.+))?$/;

/** Test files that import one of the files, itself or by way of others; those with the shortest way first. Paths are from the root. */
export function relatedTests(files: readonly string[]): string[] {
  const importers = importersOf(codeFiles(['packages', 'test', 'scripts', 'examples', 'bench']));
  const found = new Set(files);
  for (const file of found) for (const importer of importers.get(file) ?? []) found.add(importer);
  return [...found].filter((file) => file.endsWith('.test.ts'));
}

function importersOf(files: readonly string[]): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const file of files) {
    for (const [, specifier = ''] of readProjectFile(file).matchAll(IMPORT)) {
      const target = resolved(file, specifier);
      if (target !== undefined) importers.set(target, [...(importers.get(target) ?? []), file]);
    }
  }
  return importers;
}

/** Path of what is imported; undefined for what is not of this project. */
function resolved(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return join(dirname(file), specifier);
  const [, name, subpath] = PACKAGE.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const folder = `packages/${name.replace('@sallyport/', '')}`;
  const { exports = {} } = JSON.parse(readProjectFile(`${folder}/package.json`)) as {
    exports?: Record<string, string>;
  };
  const target = exports[subpath === undefined ? '.' : `./${subpath}`] ?? exports['./*']?.replace('*', subpath ?? '');
  const path = target === undefined ? undefined : join(folder, target);
  return path !== undefined && existsSync(join(ROOT, path)) ? path : undefined;
}
