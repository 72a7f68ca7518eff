import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../project-files.ts';

const MAIN = 'packages/sallyport/src/compose/main.ts';
/**
 * Programs that print where they run from, a word of another module, a file next to that module, and their arguments.
 */
const SOURCES = {
  [MAIN]: `import { Agent } from 'node:http';
import { beside, WORD } from '../word/word.ts';
const from = process.argv[1]?.includes('/dist/bundle/') ? 'bundle' : 'sources';
console.log(from, WORD as string, beside(), process.argv.slice(2).join(' '), typeof Agent);
`,
  'packages/sallyport/src/word/word.ts': `import { readFileSync } from 'node:fs';
export const WORD: string = '…';
export const beside = () => readFileSync(new URL('beside.txt', import.meta.url), 'utf8') + import.meta.dirname.slice(-5);
`,
  'packages/sallyport/src/word/beside.txt': 'beside ',
  'examples/starter/start.ts': `import { called } from '../../packages/sallyport/src/word/called.ts';
const beside = new URL('beside.mjs', import.meta.url).href;
const signs = '… \\u{1f600} 😀';
const isStrict = (function (this: unknown) { return this === undefined; })();
const broken = () => import('../../packages/sallyport/src/word/broken.ts').then(String, ({ message }: Error) => message);
import(beside)
  .then(async ({ NAME }) => console.log(signs, NAME, called(20), isStrict, await broken(), await broken()));
`,
  'packages/sallyport/src/word/broken.ts': "throw new Error('broken');\nexport const unused = 1;\n",
  'examples/starter/beside.mjs': "export const NAME = 'not bundled';\n",
  'packages/sallyport/src/word/called.ts': `export function called(depth: number): number {
  const half = (of: number): number => (of < 2 ? 1 : called(of / 2) + called(of / 3));
  return half(depth);
}
`,
  'package.json': '{"type":"module"}\n',
};

/** The files of this project that are copied into the test's project. */
const LAUNCHER = [
  ...['sallyport.mjs', 'starter.mjs', 'start.mjs', 'load-bundle.mjs'].map((name) => `packages/sallyport/bin/${name}`),
  ...['bundle/make-bundle.ts', 'bundle/licences.ts', 'bundle/rows-for-doors.ts', 'project-files.ts'].map(
    (name) => `scripts/${name}`,
  ),
];

interface Ending {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Makes a project with the launcher of this one. */
async function project(dependencies: 'with bundler' | 'without bundler') {
  const root = await mkdtemp(join(tmpdir(), 'bundle-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  for (const [path, text] of Object.entries(SOURCES)) await put(path, text);
  for (const path of LAUNCHER) await cp(join(ROOT, path), join(root, path));
  if (dependencies === 'with bundler') await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const start = (program: string, ...args: string[]): Promise<Ending> =>
    new Promise((resolve) => {
      execFile(
        process.execPath,
        [join(root, 'packages/sallyport/bin', `${program}.mjs`), ...args],
        (error, stdout, stderr) => {
          resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
        },
      );
    });
  return { root, put, start };
}

test('a program runs from a bundle, which is made anew when a source has changed', async () => {
  const { root, put, start } = await project('with bundler');
  const first = await start('sallyport', 'one', '--two');
  expect(first).toEqual({ code: 0, stdout: 'bundle … beside /word one --two function\n', stderr: '' });

  const files = await readdir(join(root, 'packages/sallyport/dist/bundle'));
  expect((await start('sallyport')).stdout).toBe('bundle … beside /word  function\n');
  expect((await readdir(join(root, 'packages/sallyport/dist/bundle'))).sort()).toEqual(files.sort());

  await put(
    'packages/sallyport/src/word/word.ts',
    SOURCES['packages/sallyport/src/word/word.ts'].replace('…', 'changed'),
  );
  expect((await start('sallyport')).stdout).toBe('bundle changed beside /word  function\n');
});

test('a source with a fault runs as it is, and Node says where the fault is', async () => {
  const { put, start } = await project('with bundler');
  await put('packages/sallyport/src/word/word.ts', 'export const = 1;\n');
  const { code, stdout, stderr } = await start('sallyport');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('packages/sallyport/src/word/word.ts');
});

test('where there is no bundler the sources run', async () => {
  const { start } = await project('without bundler');
  const ran = await start('sallyport', 'one');
  expect(ran).toEqual({ code: 0, stdout: 'sources … beside /word one function\n', stderr: '' });
});

/** The files of compiled code that V8 left, with their sizes. */
async function compiledIn(root: string): Promise<Map<string, number>> {
  const folder = join(root, 'packages/sallyport/dist/bundle/compiled');
  const paths = (await readdir(folder, { recursive: true })).filter((path) => /\.js\.\w+$/.test(path));
  return new Map(await Promise.all(paths.map(async (path) => [path, (await stat(join(folder, path))).size] as const)));
}

test('a program that serves leaves what it used compiled for the next start', async () => {
  const { root, start } = await project('with bundler');
  const said = { code: 0, stdout: '… 😀 😀 not bundled 9 true broken broken\n', stderr: '' };
  expect(await start('starter')).toEqual(said);
  const first = await compiledIn(root);
  const used = [...first.keys()].filter((path) => path.endsWith('.used'));
  const [program = ''] = used.filter((path) => path.includes('starter'));
  expect(first.get(program)).toBeGreaterThan(first.get(program.replace(/used$/, 'loaded')) ?? Number.NaN);

  expect(await start('starter')).toEqual(said);
  expect(await compiledIn(root)).toEqual(first);
});

test('compiled code stays with parts that did not change, and goes with the others', async () => {
  const { root, put, start } = await project('with bundler');
  await start('starter');
  const before = [...(await compiledIn(root)).keys()];
  await put(
    'packages/sallyport/src/word/word.ts',
    SOURCES['packages/sallyport/src/word/word.ts'].replace('…', 'changed'),
  );
  await start('sallyport');
  const after = [...(await compiledIn(root)).keys()];
  const ofProgram = (paths: readonly string[], name: string) => paths.filter((path) => path.includes(name)).sort();
  expect(ofProgram(after, 'starter-')).toEqual(ofProgram(before, 'starter-'));
  expect(ofProgram(after, 'sallyport-')).toHaveLength(1);
  expect(ofProgram(after, 'sallyport-')).not.toEqual(ofProgram(before, 'sallyport-'));
});

test('what was used is kept part by part, once', async () => {
  const { root, start } = await project('with bundler');
  await start('sallyport');
  const program = `
    import { readFileSync } from 'node:fs';
    import { openBundle } from './packages/sallyport/bin/load-bundle.mjs';
    const { load, keep } = openBundle('${join(root, 'packages/sallyport/dist/bundle')}');
    const { programs, parts } = JSON.parse(readFileSync('packages/sallyport/dist/bundle/bundle.json', 'utf8'));
    console.log = () => undefined;
    load(programs.sallyport);
    load(programs.starter);
    console.info(keep('loaded', 1), keep('used', 1), keep('used', 1), keep('used', 1));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
  expect(stdout).toBe('false true false false\n');
  expect([...(await compiledIn(root)).keys()].filter((path) => path.endsWith('.used'))).toHaveLength(2);
});

test('a command leaves nothing: it uses little of what a start needs', async () => {
  const { root, start } = await project('with bundler');
  await start('sallyport', 'one');
  expect([...(await compiledIn(root)).keys()].filter((path) => !path.endsWith('.loaded'))).toEqual([]);
});

test('compiled code that is damaged or cannot be written costs time and nothing else', async () => {
  const { root, put, start } = await project('with bundler');
  const good = await start('starter');
  const compiled = await compiledIn(root);
  const paths = [...compiled.keys()].map((path) => join('packages/sallyport/dist/bundle/compiled', path));
  const middle = async (path: string): Promise<Buffer> => {
    const content = await readFile(join(root, path));
    return content.fill(0, Math.floor(content.length / 2));
  };
  const damages: readonly ((path: string) => Promise<void>)[] = [
    (path) => put(path, ''),
    (path) => put(path, 'rubbish'),
    (path) => truncate(join(root, path), 100),
    async (path) => writeFile(join(root, path), await middle(path)),
  ];
  for (const damage of damages) {
    for (const path of paths) await damage(path);
    expect(await start('starter')).toEqual(good);
    expect([...(await compiledIn(root)).keys()].sort()).toEqual([...compiled.keys()].sort());
  }
  await rm(join(root, 'packages/sallyport/dist/bundle/compiled'), { recursive: true });
  await put('packages/sallyport/dist/bundle/compiled', 'a file where the folder belongs');
  expect(await start('starter')).toEqual(good);
});
