import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MiB } from '@sallyport/std/bytes';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { objectStoreConformance } from '../../bridges/conformance/object-store.conformance.ts';
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

test('STA-03.4 a folder in the place of an object is none, and is not removed with what is in it', async () => {
  const store = folderObjectStore(folder);
  await mkdir(join(folder, 'acme', 'one', 'deep'), { recursive: true });
  expect(await store.get('acme/one', (await stat(join(folder, 'acme', 'one'))).size)).toBeUndefined();
  const refused = { code: 'E3823', message: expect.stringContaining('EISDIR') };
  await expect(store.remove('acme/one')).rejects.toMatchObject(refused);
  await expect(store.put('acme/one', BYTES, 'kept')).rejects.toMatchObject(refused);
  expect(await readdir(join(folder, 'acme'))).toEqual(['one']);
});

test('STA-03.4 bytes that cannot be written are an error, and no object', async () => {
  const store = folderObjectStore(folder);
  await mkdir(join(folder, 'acme'));
  await symlink('/dev/full', join(folder, 'acme', '.one'));
  const refused = { code: 'E3823', message: expect.stringContaining('the disk is full') };
  await expect(store.put('acme/one', BYTES, 'kept')).rejects.toMatchObject(refused);
  expect(await readdir(join(folder, 'acme'))).toEqual([]);
});

/** Runs in a file system of 1 MiB. */
const ON_A_FULL_DISK = `
  const { folderObjectStore } = await import(process.argv[1]);
  const store = folderObjectStore('/tmp');
  await store.put('acme/before', Buffer.alloc(300_000), 'kept');
  const refused = await store.put('acme/large', Buffer.alloc(2_000_000), 'kept').catch(({ code, message }) => ({ code, message }));
  const { readdirSync } = await import('node:fs');
  const left = readdirSync('/tmp/acme');
  await store.put('acme/after', Buffer.alloc(300_000), 'kept');
  const kept = (await store.get('acme/before', 300_000)).length;
  console.log(JSON.stringify({ refused, left, kept }));
`;

test('STA-06.3 on a full disk an object is refused, nothing of it is left, and the others stay', async () => {
  const module = fileURLToPath(new URL('folder-object-store.ts', import.meta.url));
  const disk = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--size', String(MiB), '--tmpfs', '/tmp'];
  const program = [process.execPath, '--input-type=module', '--eval', ON_A_FULL_DISK, module];
  const { stdout } = await promisify(execFile)('bwrap', [...disk, ...program]);
  expect(JSON.parse(stdout)).toEqual({
    refused: { code: 'E3823', message: expect.stringContaining('the disk is full') },
    left: ['before'],
    kept: 300_000,
  });
});
