import { mkdir, mkdtemp, realpath, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { USUAL } from './file-tool.fixture.ts';
import { createConfinedReader } from './read-confined.ts';

const never = new AbortController().signal;
let folder: string;
let root: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'confined-')));
  root = join(folder, 'root');
  await mkdir(join(root, 'keys'), { recursive: true });
  await writeFile(join(folder, 'outside'), 'outside');
  for (const name of ['a', '.env', 'keys/own']) await writeFile(join(root, name), 'four');
  await symlink('../outside', join(root, 'out'));
  await symlink('a', join(root, 'near'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('EXE-04.2 EXE-04.3 reads whole files of its folders, and nothing else', async () => {
  const read = createConfinedReader([root], { ...USUAL, closed: [join(root, 'keys')] });
  for (const path of ['a', join(root, 'a'), 'near', 'keys/../a'])
    expect(await read(path, 4, never), path).toEqual({ path: join(root, 'a'), bytes: Buffer.from('four') });
  for (const [path, code] of [
    ['../outside', 'E3105'],
    ['out', 'E3105'],
    [join(folder, 'outside'), 'E3105'],
    ['.env', 'E3210'],
    ['keys/own', 'E3210'],
    ['keys', 'E3210'],
    ['none', 'E3109'],
    ['.', 'E3109'],
  ] as const)
    await expect(read(path, 9, never), path).rejects.toMatchObject({ code });
  await expect(read('a', 3, never)).rejects.toMatchObject({ code: 'E3102' });
  await expect(createConfinedReader([], USUAL)('a', 9, never)).rejects.toMatchObject({ code: 'E3105' });
});

test('EXE-04.2 a huge file is refused without room for it', async () => {
  await writeFile(join(root, 'huge'), '');
  await truncate(join(root, 'huge'), 2 ** 40);
  await expect(createConfinedReader([root], USUAL)('huge', 9, never)).rejects.toMatchObject({ code: 'E3102' });
});
