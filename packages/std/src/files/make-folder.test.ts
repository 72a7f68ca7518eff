import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

test('makes what is missing, for its owner, and leaves what is there', async () => {
  const base = await mkdtemp(join(tmpdir(), 'sallyport-folder-'));
  onTestFinished(() => rm(base, { recursive: true }));
  const path = join(base, 'a', 'b', 'c');
  await makeFolder(path);
  await makeFolder(path);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
});

test('ends with the error of the file system', async () => {
  const base = await mkdtemp(join(tmpdir(), 'sallyport-folder-'));
  onTestFinished(() => rm(base, { recursive: true }));
  await writeFile(join(base, 'file'), '');
  await expect(makeFolder(join(base, 'file', 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(makeFolder('/proc/nowhere/below')).rejects.toMatchObject({ code: 'ENOENT' });
});
