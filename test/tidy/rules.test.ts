import { expect, test } from 'vitest';
import { deadPaths } from './document-paths.ts';
import { isFace, undocumentedExports } from './face-docs.ts';
import { bannedLanguage } from './language.ts';
import { linesOfLevels, linesOfMap, mapFaults } from './map.ts';
import { oddNames, vagueNames } from './names.ts';
import { machinePaths } from './places.ts';
import { ENTRIES_PER_FOLDER_MAX, fullFolders, LINES_PER_FILE_MAX, LINES_PER_FUNCTION_MAX, longCode } from './sizes.ts';

const lines = (count: number, line = ';'): string => `${line}\n`.repeat(count);
const functionOf = (count: number): string => `export function f() {\n${lines(count - 2)}}\n`;

test('a file of the limit passes and one of a line more does not', () => {
  expect(longCode('src/a.ts', lines(LINES_PER_FILE_MAX))).toEqual([]);
  expect(longCode('src/a.ts', lines(LINES_PER_FILE_MAX + 1))).toEqual([
    'src/a.ts has 401 lines, 400 at most: split it',
  ]);
  expect(longCode('test/requirements.ts', lines(LINES_PER_FILE_MAX + 1))).toEqual([]);
});

test('a function of the limit passes and one of a line more does not, with its place', () => {
  expect(longCode('src/a.ts', functionOf(LINES_PER_FUNCTION_MAX))).toEqual([]);
  const source = `// größer\n\n${functionOf(LINES_PER_FUNCTION_MAX + 1)}`;
  expect(longCode('src/a.ts', source)).toEqual(['src/a.ts:3 a function has 71 lines, 70 at most: split it']);
});

test('methods, arrow functions and functions within functions are counted', () => {
  const body = lines(LINES_PER_FUNCTION_MAX);
  expect(longCode('src/a.ts', `const a = () => {\n${body}};\n`)).toHaveLength(1);
  expect(longCode('src/a.ts', `class A {\n  m() {\n${body}  }\n}\n`)).toHaveLength(1);
  expect(longCode('src/a.ts', `const a = {\n  m() {\n${body}  },\n};\n`)).toHaveLength(1);
  expect(longCode('src/a.ts', `function a() {\n  function b() {\n${body}  }\n}\n`)).toHaveLength(2);
});

test('the body of a test group has no limit, the body of a test has', () => {
  const body = lines(LINES_PER_FUNCTION_MAX);
  expect(longCode('src/a.test.ts', `describe.each([1])('x', () => {\n${body}});\n`)).toEqual([]);
  expect(longCode('src/a.test.ts', `test('x', () => {\n${body}});\n`)).toHaveLength(1);
});

test('a folder may hold so many entries and not one more', () => {
  const paths = Array.from({ length: ENTRIES_PER_FOLDER_MAX }, (_, index) => `src/a/${index}.ts`);
  expect(fullFolders(paths)).toEqual([]);
  expect(fullFolders([...paths, 'src/a/b'])).toEqual(['src/a holds 21 entries, 20 at most: group them']);
  expect(
    fullFolders(paths.map((path) => path.replace('src/a/', 'packages/a/src/')).concat('packages/a/src/more.ts')),
  ).toEqual([]);
});

test('a vague word in a name is found, as part of another word it is not', () => {
  expect(vagueNames(['src/a/string-utils.ts', 'src/common', 'src/a/token-manager.test.ts'])).toHaveLength(3);
  expect(vagueNames(['src/a/database.ts', 'src/a/information.ts', 'api/schemas/commons.ts'])).toEqual([]);
});

test('names are in kebab-case', () => {
  expect(oddNames(['src/a/tool-store.port.ts', '.dependency-cruiser.mjs', 'src/a/x.test.ts', 'examples/e2e'])).toEqual(
    [],
  );
  expect(oddNames(['src/a/toolStore.ts', 'src/Tools', 'src/a/tool_store.ts'])).toHaveLength(3);
});

test('suppressions, any, default exports and barrels are found', () => {
  expect(bannedLanguage('src/a.ts', `// ${['biome', 'ignore'].join('-')} lint: x\nlet a: any;\n`)).toHaveLength(2);
  expect(bannedLanguage('src/a.ts', 'export default 1;')).toEqual(['src/a.ts:1 a default export: give it its name']);
  expect(bannedLanguage('src/a.ts', 'const a = 1;\nexport { a as default };')).toHaveLength(1);
  expect(bannedLanguage('packages/a/src/a.ts', `export * from './b.ts';`)).toHaveLength(1);
  expect(bannedLanguage('src/a.ts', `/** any, export default */\nexport const any = 'any';`)).toEqual([]);
  expect(bannedLanguage('vitest.config.ts', 'export default {};')).toEqual([]);
});

test('every export of a face needs a doc block directly before it', () => {
  const source = `/** Doc. */\nexport const a = 1;\nexport type a = number;\n\n/* no */\nexport interface B {}\nexport function c() {}\n`;
  expect(undocumentedExports('src/x/y.ts', source)).toEqual([
    'src/x/y.ts:6 B has no TSDoc block',
    'src/x/y.ts:7 c has no TSDoc block',
  ]);
});

test('first-level files are faces, as is all of std and domain', () => {
  const faces = [
    'sallyport/src/index.ts',
    'sallyport/src/a/b.ts',
    'guards/src/a/b.port.ts',
    'sallyport/src/domain/a/b/c.ts',
    'std/src/a/b/c.ts',
  ];
  expect(faces.map((path) => `packages/${path}`).every(isFace)).toBe(true);
  const others = [
    'sallyport/src/a/b/c.ts',
    'guards/src/domain/b/c.ts',
    'sallyport/src/a/b.test.ts',
    'sallyport/api/schemas/error.ts',
  ];
  expect(others.map((path) => `packages/${path}`).some(isFace)).toBe(false);
});

test('paths of a machine are found, the same words elsewhere are not', () => {
  expect(machinePaths('a.md', ['see', ['', 'work', 'main'].join('/')].join(' '))).toHaveLength(1);
  expect(machinePaths('a.md', 'a network/work/x, /workshop, ./root/x and /tmp/other')).toEqual([]);
});

test('map, import rules and folders are compared', () => {
  const map = linesOfMap(
    '```\n  std/ 1 x\n    src/\n    domain/        0  words\n    doors/         9  rest/ grpc/\n    gone/          3  x\napi/ 1 x\n```',
  );
  expect(map).toEqual({ domain: 0, doors: 9, gone: 3 });
  const levels = linesOfLevels([['domain'], ['doors', 'later']]);
  expect(mapFaults({ domain: 0 }, levels, ['domain'])).toEqual([]);
  expect(mapFaults(map, levels, ['domain', 'doors', 'new'])).toEqual([
    'new is not in the map of ARCHITECTURE.md',
    'the map of ARCHITECTURE.md names gone, which does not exist',
    'new has no line in .dependency-cruiser.mjs',
    'doors is on line 9 of the map and on 1 of the import rules',
  ]);
});

test('dead links and dead paths of a document are found, patterns and foreign names are not', () => {
  const src = 'packages/sallyport/src';
  const entries = new Set(['docs', 'docs/a.md', src, `${src}/pipeline`, `${src}/pipeline/order.ts`, 'LICENSE']);
  const good =
    '[a](a.md) [l](../LICENSE#x) [w](https://x/y) `pipeline/order.ts` `src/pipeline/` `pipeline/*` `a/b` `/v1/x`';
  expect(deadPaths('docs/b.md', good, entries)).toEqual([]);
  expect(deadPaths('docs/b.md', '[a](b/a.md) `pipeline/run.ts` `src/gone/`', entries)).toEqual([
    'docs/b.md names b/a.md, which does not exist',
    'docs/b.md names pipeline/run.ts, which does not exist',
    'docs/b.md names src/gone, which does not exist',
  ]);
});
