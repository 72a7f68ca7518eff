import { mkdtemp, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { anchorFile } from './anchor-file.ts';

const checkpoint = { chainId: 'one', seq: 3, hash: 'h', time: '2026-01-01T00:00:00Z', keyId: 'k', signature: 's' };
const anchor = { chain_id: 'one', seq: 3, hash: 'h', time: '2026-01-01T00:00:00Z', key_id: 'k', signature: 's' };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'anchors-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const lines = async (path: string): Promise<unknown[]> =>
  (await readFile(path, 'utf8')).split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));

test('AUD-07 heads are appended one a line, for the owner alone, in a folder that is made, behind a rotation too', async () => {
  const path = join(folder, 'kept', 'anchors.jsonl');
  const append = anchorFile(path);
  await append(checkpoint);
  await append({ ...checkpoint, seq: 4 });
  expect(await lines(path)).toEqual([anchor, { ...anchor, seq: 4 }]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, 'kept'))).mode & 0o777).toBe(0o700);
  await rename(path, `${path}.1`);
  await append({ ...checkpoint, seq: 5 });
  expect(await lines(path)).toEqual([{ ...anchor, seq: 5 }]);
});

test('AUD-07 the file is opened once its folder is there, however deep', async () => {
  const path = join(folder, ...Array<string>(60).fill('deep'), 'anchors.jsonl');
  await anchorFile(path)(checkpoint);
  expect(await lines(path)).toEqual([anchor]);
});

test('AUD-07 a file that cannot be written is an error', async () => {
  await expect(anchorFile(folder)(checkpoint)).rejects.toMatchObject({ code: 'EISDIR' });
});

test('AUD-07 a head that a full disk does not take is an error', async () => {
  await expect(anchorFile('/dev/full')(checkpoint)).rejects.toMatchObject({ code: 'ENOSPC' });
});

test('AUD-07.4 of a head that the disk took a part of nothing stays, so that the file can be read', async () => {
  const path = join(folder, 'anchors.jsonl');
  await anchorFile(path)(checkpoint);
  await using file = await open(path);
  const handle = Object.getPrototypeOf(file) as typeof file;
  const { appendFile } = handle;
  vi.spyOn(handle, 'appendFile').mockImplementationOnce(async function (this: typeof file, data) {
    await appendFile.call(this, String(data).slice(0, 9));
    throw new Error('no space');
  });
  await expect(anchorFile(path)({ ...checkpoint, seq: 4 })).rejects.toThrow('no space');
  await anchorFile(path)({ ...checkpoint, seq: 5 });
  expect(await lines(path)).toEqual([anchor, { ...anchor, seq: 5 }]);
});
