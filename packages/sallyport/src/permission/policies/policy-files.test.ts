import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MiB } from '@sallyport/std/bytes';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readPolicyFiles } from './policy-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-policy-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

const read = () => readPolicyFiles({ folder }, (name) => name.endsWith('.cedar'));

test('files come in the order of their names, and only those that are wanted', async () => {
  for (const name of ['b.cedar', 'a.cedar', 'c.toml']) await writeFile(join(folder, name), name);
  await symlink(join(folder, 'c.toml'), join(folder, 'd.cedar'));
  expect(await read()).toEqual([
    { name: 'a.cedar', text: 'a.cedar' },
    { name: 'b.cedar', text: 'b.cedar' },
    { name: 'd.cedar', text: 'c.toml' },
  ]);
});

test('a file of 10 MB is refused before it is read', async () => {
  await writeFile(join(folder, 'a.cedar'), '');
  await truncate(join(folder, 'a.cedar'), 10 * MiB);
  await expect(read()).rejects.toMatchObject({
    code: 'E3214',
    message: `The policy folder ${folder} holds more than 1000 files or 4096 KiB of policies (counted up to a.cedar). Remove what is not needed.`,
    failure: { details: { file: 'a.cedar' } },
  });
  await truncate(join(folder, 'a.cedar'), 4 * MiB);
  expect((await read())[0]?.text.length).toBe(4 * MiB);
});

test('more than a thousand files are refused', async () => {
  for (let at = 0; at <= 1000; at += 1) await writeFile(join(folder, `${at}.cedar`), '');
  const message = `The policy folder ${folder} holds more than 1000 files or 4096 KiB of policies. Remove what is not needed.`;
  await expect(read()).rejects.toMatchObject({ code: 'E3214', message });
  await rm(join(folder, '0.cedar'));
  expect(await read()).toHaveLength(1000);
});

test('what is no file is refused and not waited for', async () => {
  await mkdir(join(folder, 'a.cedar'));
  await expect(read()).rejects.toMatchObject({ code: 'E3214', message: expect.stringContaining('a.cedar') });
});

test('PRM-04 files together are no larger than 4 MiB, and texts come in the order of their names too', async () => {
  for (const name of ['a.cedar', 'b.cedar']) await writeFile(join(folder, name), 'x'.repeat(2 * MiB));
  expect((await read()).map(({ text }) => text.length)).toEqual([2 * MiB, 2 * MiB]);
  await writeFile(join(folder, 'c.cedar'), 'x');
  await expect(read()).rejects.toMatchObject({ failure: { details: { file: 'c.cedar' } } });
  const files = ['b.cedar', 'x.toml', 'a.cedar'].map((name) => ({ name, text: name }));
  const found = await readPolicyFiles({ files }, (name) => name.endsWith('.cedar'));
  expect(found.map(({ name }) => name)).toEqual(['a.cedar', 'b.cedar']);
});

test('a folder that cannot be made is refused', async () => {
  await writeFile(join(folder, 'file'), '');
  await expect(readPolicyFiles({ folder: join(folder, 'file', 'x') }, () => true)).rejects.toMatchObject({
    code: 'E3214',
  });
});

test('a file that is being written is never seen half', async () => {
  const whole = `forbid (principal, action, resource); // ${'x'.repeat(1000)}`;
  const path = join(folder, 'a.cedar');
  await writeFile(path, whole);
  let done = false;
  const reading = (async () => {
    const seen = new Set<number | undefined>();
    while (!done) seen.add((await read())[0]?.text.length);
    return seen;
  })();
  for (let turn = 0; turn < 20; turn += 1) {
    // Writes the file in two steps, as editors and copying programs do.
    await writeFile(path, '');
    await writeFile(path, whole);
    await sleep(turn);
  }
  done = true;
  expect([...(await reading)]).toEqual([whole.length]);
});
