import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../read-settings.ts';
import type { Settings } from '../../settings.ts';
import { hasInstanceId, loadInstanceId } from './instance-id.ts';
import { loadSealingKey } from './sealing-key.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kept-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

describe('the name of an instance', () => {
  const path = () => join(folder, 'instance-id');

  test('it is made once for each data folder, by the first of those who start at once', async () => {
    expect(await hasInstanceId(folder)).toBe(false);
    const made = await Promise.all(Array.from({ length: 8 }, () => loadInstanceId(folder)));
    expect(new Set(made).size).toBe(1);
    expect(made[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect([await loadInstanceId(folder), await hasInstanceId(folder)]).toEqual([made[0], true]);
    expect([await readdir(folder), (await stat(path())).mode & 0o777]).toEqual([['instance-id'], 0o600]);
  });

  test('a file without a valid name is replaced, and a folder that is not there is a fault', async () => {
    await writeFile(path(), 'no name');
    expect(await hasInstanceId(folder)).toBe(false);
    const name = await loadInstanceId(folder);
    expect([name, (await readFile(path(), 'utf8')).trim()]).toEqual([name, name]);
    expect(await readdir(folder)).toEqual(['instance-id']);
    await expect(loadInstanceId(join(folder, 'none'))).rejects.toThrow('ENOENT');
  });
});

describe('the key that encrypts secrets in the database', () => {
  const load = (given: Partial<Settings> = {}) =>
    loadSealingKey(readSettings({ environment: {}, given: { data_folder: folder, ...given } }));
  const OWN = { 'database.url': 'postgres://db.example/layer' };
  const refused = (message: string) =>
    expect.objectContaining({ code: 'E3900', message: expect.stringContaining(message) });

  test('SBX-05 it is made once, in a folder of the layer alone; nobody else may read it', async () => {
    const made = await load();
    expect(made).toHaveLength(32);
    expect(await load()).toEqual(made);
    const path = join(folder, 'secrets', 'key');
    expect([(await stat(join(folder, 'secrets'))).mode & 0o777, (await stat(path)).mode & 0o077]).toEqual([0o700, 0]);
    await chmod(join(folder, 'secrets'), 0o755);
    await expect(load()).rejects.toEqual(refused('chmod 700'));
  });

  test('SBX-05 with a database of the own it is that of the named file, and none without', async () => {
    expect(await load(OWN)).toBeUndefined();
    const file = join(folder, 'own-key');
    await writeFile(file, `${Buffer.alloc(32, 7).toString('base64')}\n`);
    for (const given of [{}, OWN])
      expect(await load({ ...given, 'secrets.key_file': file })).toEqual(Buffer.alloc(32, 7));
    expect(await readdir(folder)).toEqual(['own-key']);
  });

  test('SBX-05 a file that is missing, holds no key or cannot be read is a fault, and is not replaced', async () => {
    const named = { ...OWN, 'secrets.key_file': join(folder, 'none') };
    await expect(load(named)).rejects.toEqual(refused('does not exist'));
    await mkdir(join(folder, 'none'));
    await expect(load(named)).rejects.toEqual(refused('cannot be read'));
    await load();
    await writeFile(join(folder, 'secrets', 'key'), Buffer.alloc(31).toString('base64'));
    await expect(load()).rejects.toEqual(refused('holds no key of 32 bytes'));
  });
});
