import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from './project-files.ts';

const MAIN = 'src/compose/main.ts';
/** Says from where it runs, a word of another module, what stands beside that module, its arguments and a part of Node. */
const SOURCES = {
  [MAIN]: `import { Agent } from 'node:http';
import { beside, WORD } from '../word/word.ts';
const from = process.argv[1]?.includes('/dist/bundle/') ? 'bundle' : 'sources';
console.log(from, WORD as string, beside(), process.argv.slice(2).join(' '), typeof Agent);
`,
  'src/word/word.ts': `import { readFileSync } from 'node:fs';
export const WORD: string = '…';
export const beside = () => readFileSync(new URL('beside.txt', import.meta.url), 'utf8') + import.meta.dirname.slice(-5);
`,
  'src/word/beside.txt': 'beside ',
  'examples/starter/start.ts': 'export {};\n',
  'package.json': '{"type":"module"}\n',
};

interface Ending {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A project with the launcher of this one. */
async function project(dependencies: 'with bundler' | 'without bundler') {
  const root = await mkdtemp(join(tmpdir(), 'bundle-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  for (const [path, text] of Object.entries(SOURCES)) await put(path, text);
  for (const name of ['start.mjs', 'bundle.ts', 'project-files.ts']) {
    await cp(join(ROOT, 'scripts', name), join(root, 'scripts', name));
  }
  if (dependencies === 'with bundler') await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const start = (...args: string[]): Promise<Ending> =>
    new Promise((resolve) => {
      execFile(process.execPath, [join(root, 'scripts', 'start.mjs'), ...args], (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
      });
    });
  return { root, put, start };
}

test('a program runs from a bundle, which is made anew when a source has changed', async () => {
  const { root, put, start } = await project('with bundler');
  const first = await start('sallyport', 'one', '--two');
  expect(first).toEqual({ code: 0, stdout: 'bundle … beside /word one --two function\n', stderr: '' });

  const files = await readdir(join(root, 'dist/bundle'));
  expect((await start('sallyport')).stdout).toBe('bundle … beside /word  function\n');
  expect((await readdir(join(root, 'dist/bundle'))).sort()).toEqual(files.sort());

  await put('src/word/word.ts', SOURCES['src/word/word.ts'].replace('…', 'changed'));
  expect((await start('sallyport')).stdout).toBe('bundle changed beside /word  function\n');
});

test('a source with a fault runs as it is, and Node says where the fault is', async () => {
  const { put, start } = await project('with bundler');
  await put('src/word/word.ts', 'export const = 1;\n');
  const { code, stdout, stderr } = await start('sallyport');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('src/word/word.ts');
});

test('where there is no bundler the sources run', async () => {
  const { start } = await project('without bundler');
  const ran = await start('sallyport', 'one');
  expect(ran).toEqual({ code: 0, stdout: 'sources … beside /word one function\n', stderr: '' });
});

test('a program that does not exist is refused', async () => {
  const { start } = await project('without bundler');
  expect((await start('toString')).stderr).toContain('There is no program "toString".');
});
