import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { objectStoreConformance } from '../../bridges/object-store.conformance.ts';
import { folderObjectStore } from './folder-object-store.ts';

const BYTES = Buffer.from('a state');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-objects-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

objectStoreConformance(test, 'folder', async () => ({
  store: folderObjectStore(join(folder, 'made', 'later')),
  close: async () => undefined,
}));

test('STA-03.4 files are for the user of the layer alone, and nothing else is left beside them', async () => {
  const store = folderObjectStore(join(folder, 'objects'));
  await store.put('acme/one', BYTES, 'kept');
  expect(await readdir(join(folder, 'objects', 'acme'))).toEqual(['one']);
  expect((await stat(join(folder, 'objects', 'acme', 'one'))).mode & 0o077).toBe(0);
  expect((await stat(join(folder, 'objects'))).mode & 0o077).toBe(0);
});

test('STA-03.4 a link in the place of an object is not followed', async () => {
  const store = folderObjectStore(folder);
  const outside = join(folder, 'outside');
  await writeFile(outside, BYTES);
  await mkdir(join(folder, 'acme'));
  await symlink(outside, join(folder, 'acme', 'one'));
  expect(await store.get('acme/one', BYTES.length)).toBeUndefined();
  await store.put('acme/one', Buffer.from('another'), 'kept');
  expect(await readFile(outside, 'utf8')).toBe('a state');
});

test('STA-03.4 what an interrupted write left is no object, and is removed with it', async () => {
  const store = folderObjectStore(folder);
  await mkdir(join(folder, 'acme'));
  await writeFile(join(folder, 'acme', '.one'), 'a st');
  expect(await store.get('acme/one', 4)).toBeUndefined();
  await store.remove('acme/one');
  expect(await readdir(join(folder, 'acme'))).toEqual([]);
});

test('STA-03.4 a folder that cannot be used is an error that says what to change', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  const store = folderObjectStore(file);
  const refused = { code: 'E3823', message: expect.stringContaining('object_store.folder') };
  await expect(store.put('acme/one', BYTES, 'kept')).rejects.toMatchObject(refused);
  await expect(store.get('acme/one', BYTES.length)).rejects.toMatchObject(refused);
  await expect(store.remove('acme/one')).rejects.toMatchObject(refused);
});
