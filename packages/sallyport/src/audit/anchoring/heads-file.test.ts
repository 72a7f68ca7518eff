import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { headsFile } from './heads-file.ts';

const head = { chain_id: 'one', seq: 3, hash: 'h', time: '2026-01-01T00:00:00Z', key_id: 'k', signature: 's' };
const kept = { begun: { time: '2026-01-01T00:00:00Z', events: 0 }, heads: [head] };

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heads-'));
  path = join(folder, 'heads.json');
});
afterEach(() => rm(folder, { recursive: true }));

test('AUD-07 heads are written in the place of those before, for the owner alone, and read again', async () => {
  const place = headsFile(path);
  expect(await place.read()).toBeUndefined();
  await place.write({ ...kept, heads: [head, { ...head, chain_id: 'two' }] });
  await place.write(kept);
  expect(await place.read()).toEqual(kept);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['heads.json']);
});

test('AUD-07 on a full disk the heads before stay, and that is an error', async () => {
  const place = headsFile(path);
  await place.write(kept);
  await symlink('/dev/full', `${path}.new`);
  await expect(place.write({ ...kept, heads: [] })).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(await place.read()).toEqual(kept);
});

test('AUD-07 heads that cannot be put in their place, or be read there, are an error', async () => {
  await mkdir(path);
  await expect(headsFile(path).write(kept)).rejects.toThrow();
  await expect(headsFile(path).read()).rejects.toMatchObject({ code: 'EISDIR' });
});

test.each([
  ...Object.keys(head).map((name) => JSON.stringify({ ...kept, heads: [head, { ...head, [name]: 1.5 }] })),
  '{"begun":{"time":1,"events":0},"heads":[]}',
  '{"begun":{"time":"t","events":0.5},"heads":[]}',
  '{"begun":{"time":"t"},"heads":[]}',
  '',
  '{',
  'null',
  '{}',
  '{"begun":{"time":"t","events":0},"heads":[{}]}',
  '{"begun":{"time":"t","events":0},"heads":[{"seq":1}]}',
])('AUD-07 a file that says %j is not taken for one without heads', async (text) => {
  await writeFile(path, text);
  await expect(headsFile(path).read()).rejects.toThrow();
});
