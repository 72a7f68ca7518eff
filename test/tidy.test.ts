import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { staleDocuments } from '../scripts/generate.ts';
import { codeFiles, projectEntries, ROOT, readProjectFile } from '../scripts/project-files.ts';
import { deadPaths } from './tidy/document-paths.ts';
import { isFace, undocumentedExports } from './tidy/face-docs.ts';
import { bannedLanguage } from './tidy/language.ts';
import { linesOfLevels, linesOfMap, mapFaults } from './tidy/map.ts';
import { oddNames, vagueNames } from './tidy/names.ts';
import { machinePaths } from './tidy/places.ts';
import { fullFolders, longCode } from './tidy/sizes.ts';

/** The import rules are in JavaScript without types, because dependency-cruiser does not read TypeScript. */
const RULES = '../.dependency-cruiser.mjs';
const { LEVELS } = (await import(new URL(RULES, import.meta.url).href)) as { LEVELS: readonly (readonly string[])[] };

const ENTRIES = projectEntries().map(({ path }) => path);
const CODE = codeFiles();
const CODE_FOLDERS = /^(?:packages|test|scripts|examples|bench|console)(?:\/|$)/;

/** Applies a rule to each file; returns the faults. */
const judge = (paths: readonly string[], rule: (path: string, text: string) => readonly string[]): string[] =>
  paths.flatMap((path) => {
    try {
      return rule(path, readProjectFile(path));
    } catch (error) {
      throw new Error(`${path} cannot be judged`, { cause: error });
    }
  });

test('there is code to judge', () => {
  expect(CODE.length).toBeGreaterThan(40);
});

test('files and functions are short', () => {
  expect(judge(CODE, longCode)).toEqual([]);
});

test('folders are small', () => {
  expect(fullFolders(ENTRIES)).toEqual([]);
});

test('names of files and folders say something, in kebab-case', () => {
  const paths = ENTRIES.filter((path) => CODE_FOLDERS.test(path));
  expect(vagueNames(paths)).toEqual([]);
  expect(oddNames(paths.filter((path) => /\.(?:ts|mjs)$|\/[^.]*$/.test(path)))).toEqual([]);
});

test('no check is switched off in place, and there is no any, default export or barrel', () => {
  expect(judge(CODE, bannedLanguage)).toEqual([]);
});

test('the hot path is short, and the carrier of a call has two writers', () => {
  const hot = CODE.filter((path) => readProjectFile(path).startsWith('// Hot path'));
  expect(hot.length).toBeLessThanOrEqual(25);
  const writers = CODE.filter((path) => !/\.(?:test|fixture)\.ts$/.test(path)).filter((path) =>
    /\bestablish\(ongoing\.call|Object\.assign\((?:\w+\.)?call\b/.test(readProjectFile(path)),
  );
  const pipeline = 'packages/sallyport/src/pipeline';
  expect(writers).toEqual([
    `${pipeline}/ongoing/ongoing-call.ts`,
    `${pipeline}/run.ts`,
    `${pipeline}/wrappers/audited.ts`,
  ]);
});

test('PIPE-02.3 nothing runs a tool but the stage that executes', () => {
  const layer = CODE.filter((path) => /^packages\/sallyport\/src\/(?!executors\/)/.test(path)).filter(
    (path) => !/\.(?:test|fixture)\.ts$/.test(path),
  );
  const runners = layer.filter((path) =>
    /\bexecutors?(?:Of\([^)]*\))?\.execute(?:Confirmed)?\(/.test(readProjectFile(path)),
  );
  expect(runners).toEqual(['packages/sallyport/src/pipeline/stages/execute.ts']);
  const importers = layer.filter((path) => /from '(?:\.\.?\/)+executors\//.test(readProjectFile(path)));
  expect(importers.length).toBeGreaterThan(5);
  expect(importers.filter((path) => !/^packages\/sallyport\/src\/(?:compose|pipeline)\//.test(path))).toEqual([]);
});

test('every export of a face is documented', () => {
  expect(judge(CODE.filter(isFace), undocumentedExports)).toEqual([]);
});

test('every size is written with its unit', () => {
  // Programs in plain JavaScript run without the packages, so they cannot import the units.
  const sized = CODE.filter(
    (path) => path.endsWith('.ts') && path !== 'packages/std/src/bytes.ts' && !path.startsWith('test/tidy'),
  );
  const bareProduct = (path: string, text: string) =>
    [...text.matchAll(/\b\d+ ?\* ?1024\b/g)].map(([found]) => `${path}: ${found}, write KiB or MiB`);
  expect(judge(sized, bareProduct)).toEqual([]);
});

test('no file names a path of one machine', () => {
  const texts = projectEntries().filter(
    ({ path, isFolder }) => !isFolder && isText(path) && path !== 'package-lock.json',
  );
  expect(
    judge(
      texts.map(({ path }) => path),
      machinePaths,
    ),
  ).toEqual([]);
});

test('the map of ARCHITECTURE.md has the folders of the layer and the lines of the import rules', ({ skip }) => {
  skip(!ENTRIES.includes('ARCHITECTURE.md'), 'ARCHITECTURE.md is not written yet');
  const folders = readdirSync(join(ROOT, 'packages/sallyport/src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const names = folders.map(({ name }) => name);
  expect(mapFaults(linesOfMap(readProjectFile('ARCHITECTURE.md')), linesOfLevels(LEVELS), names)).toEqual([]);
});

test('paths that the documents name exist', () => {
  const known = new Set(ENTRIES);
  const documents = ENTRIES.filter((path) => path.endsWith('.md'));
  expect(judge(documents, (path, text) => deadPaths(path, text, known))).toEqual([]);
});

test('OPS-01.2 generated documents say what the code says', async () => {
  expect(await staleDocuments(), 'run npm run generate').toEqual([]);
});

function isText(path: string): boolean {
  return !/\.(?:png|jpe?g|gif|ico|wasm|woff2?|gz|zip|pem)$/.test(path);
}
