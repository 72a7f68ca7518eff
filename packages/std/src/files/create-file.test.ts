import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createFile } from './create-file.ts';

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'create-file-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('of several that create a file one wins, its content is whole, and nothing else is left', async () => {
  const place = await folder();
  const path = join(place, 'file');
  const contents = Array.from({ length: 20 }, (_, at) => String(at).repeat(10_000));
  await Promise.all(contents.map((content) => createFile(path, content)));
  expect(contents).toContain(await readFile(path, 'utf8'));
  expect(await readdir(place)).toEqual(['file']);
});

test('a file that exists stays as it is', async () => {
  const path = join(await folder(), 'file');
  await createFile(path, 'first', 0o644);
  await createFile(path, 'second');
  expect(await readFile(path, 'utf8')).toBe('first');
  expect((await stat(path)).mode & 0o777).toBe(0o644);
});

test('a folder that is missing is an error, and leaves nothing', async () => {
  const place = await folder();
  await expect(createFile(join(place, 'missing', 'file'), '')).rejects.toThrow('ENOENT');
  expect(await readdir(place)).toEqual([]);
});
