import { existsSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MiB } from '@sallyport/std/bytes';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { makeAndReadPolicyFiles, readPolicyFiles } from './policy-files.ts';

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
  await expect(makeAndReadPolicyFiles({ folder: join(folder, 'file', 'x') }, () => true)).rejects.toMatchObject({
    code: 'E3214',
  });
});

// Whether a file is still being written is asked of the clock, which stands still here: a machine that stalls changes nothing.
test('a file that is being written is waited for', async () => {
  const path = join(folder, 'a.cedar');
  await writeFile(path, '');
  vi.useFakeTimers({ toFake: ['Date'], now: (await stat(path)).mtimeMs + 1 });
  onTestFinished(() => void vi.useRealTimers());
  const reading = read();
  expect(await Promise.race([reading, sleep(100, 'waits')])).toBe('waits');
  writeSettled('a.cedar', 'whole');
  expect(await reading).toEqual([{ name: 'a.cedar', text: 'whole' }]);
});

test('files that change while they are read are read again: a rule that moves to another file is never lost', async () => {
  for (let at = 1; at < 20; at += 1) writeSettled(`b-${at}.cedar`, '');
  for (let turns = 0; turns < 60; turns += 1) {
    writeSettled('a.cedar', '');
    writeSettled('z.cedar', 'forbid');
    const reading = read();
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    writeSettled('a.cedar', 'forbid');
    writeSettled('z.cedar', '');
    expect((await reading).map(({ text }) => text)).toContain('forbid');
  }
});

test('PRM-04 a file that a program moves away before it writes it is waited for', async () => {
  writeSettled('a.cedar', 'permit');
  vi.useFakeTimers({ toFake: ['Date'], now: statSync(folder).mtimeMs + 1 });
  onTestFinished(() => void vi.useRealTimers());
  const reading = read();
  expect(await Promise.race([reading, sleep(100, 'waits')])).toBe('waits');
  writeSettled('b.cedar', 'forbid');
  vi.setSystemTime(statSync(folder).mtimeMs + 1_000);
  expect((await reading).map(({ text }) => text)).toEqual(['permit', 'forbid']);
});

test('PRM-04 files of equal sizes and times that are exchanged while they are read are read again', async () => {
  const put = (first: string, last: string): void => {
    for (const [name, text] of [
      ['a', first],
      ['z', last],
    ] as const) {
      writeFileSync(join(folder, `${name}.new`), text);
      utimesSync(join(folder, `${name}.new`), 1, 1);
      renameSync(join(folder, `${name}.new`), join(folder, `${name}.cedar`));
    }
    utimesSync(folder, 1, 1);
  };
  for (let at = 1; at < 20; at += 1) writeSettled(`b-${at}.cedar`, '');
  for (let turns = 0; turns < 60; turns += 1) {
    put('permit', 'forbid');
    const reading = read();
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    put('forbid', 'permit');
    expect((await reading).map(({ text }) => text)).toContain('forbid');
  }
});

test('PRM-04 a folder that is gone when it is read again is not made, so that another one can take its place', async () => {
  const place = join(folder, 'policies');
  await makeAndReadPolicyFiles({ folder: place }, () => true);
  expect(existsSync(place)).toBe(true);
  rmSync(place, { recursive: true });
  await expect(readPolicyFiles({ folder: place }, () => true)).rejects.toMatchObject({ code: 'E3214' });
  expect(existsSync(place)).toBe(false);
});

/** Writes a file that looks as if it had been written earlier, each at a time of its own. */
function writeSettled(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
  writes += 1;
  utimesSync(join(folder, name), writes, writes);
}
let writes = 0;
