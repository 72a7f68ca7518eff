import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSallyport } from './sallyport-program.fixture.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-elsewhere-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ['tools list'],
  ['tools show add'],
  ['audit tail'],
  ['audit verify'],
  ['token inspect x'],
  ['upstreams list'],
  ['calls show 6f9619ff-8b86-4d01-b42d-00cf4fc964ff'],
  ['approvals list'],
  ['api-keys list'],
  ['policy list'],
])('API-05 %s says that there is no layer, ends with 3 and makes nothing', async (command) => {
  const run = await runSallyport(command.split(' '), { cwd: folder });
  expect(run).toMatchObject({ code: 3, out: '', err: expect.stringContaining('No layer has used the data folder') });
  expect(run.err).toContain(join(folder, '.sallyport'));
  expect(await readdir(folder)).toEqual([]);
});

test('API-05 doctor and what judges a file leave no data folder behind', async () => {
  const doctor = await runSallyport(['doctor'], { cwd: folder });
  expect(doctor.out).toContain('which the first start makes');
  const file = join(import.meta.dirname, '../../../examples/starter/count-words.json');
  expect(await runSallyport(['tools', 'check', file], { cwd: folder })).toMatchObject({ code: 0 });
  expect(await readdir(folder)).toEqual([]);
}, 60_000);
