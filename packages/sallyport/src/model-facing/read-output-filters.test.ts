import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../telemetry/log.ts';
import { createOutputFilters } from './output-filters.ts';
import { readOutputFilters } from './read-output-filters.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-filters-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The filters of a file with one table, whose tool is `x`. */
async function read(members: string) {
  const file = join(folder, 'filters.toml');
  await writeFile(file, `[[filter]]\nid = "one"\ntool = { exact = "x" }\n${members}\n`);
  return readOutputFilters(file);
}

/** What the filter of a table makes of a text. */
async function filtered(members: string, text: string) {
  const [filter] = await read(members);
  return filter?.filter(text, { toolId: 'x', arguments: {} }, () => undefined);
}

test.each([
  ['a pattern that is none', "drop = ['(']"],
  ['a pattern that is too large', "drop = ['(a{1,500}){1,2}']"],
  ['look-around, which no linear time allows', "drop = ['(?=a)']"],
  ['nothing to leave out', 'keep = ["a"]'],
  ['an unknown member', 'dorp = ["a"]'],
  ['two matchers at once', 'command = { exact = "a", prefix = "b" }\ndrop = ["a"]'],
  ['a matcher that is none', 'command = {}\ndrop = ["a"]'],
])('MOD-06.3 a filter with %s is refused, and named', async (_what, members) => {
  await expect(read(members)).rejects.toMatchObject({
    code: 'E3801',
    message: expect.stringMatching(/the filter one: |\/filter\/0/),
  });
});

test('a file that is not there holds no filters', async () => {
  expect(await readOutputFilters(join(folder, 'none.toml'))).toEqual([]);
});

test.each([
  ['full', 'drop = ["^-"]\nkeep = ["^[+]"]', '- a\n+ b\n\n', '+ b\n\n'],
  ['partial', 'drop = ["^-"]', '- a\r\nodd\r\n', 'odd\r\n'],
  ['partial', 'keep = ["^[+]"]\nothers = "drop"', 'odd\n+ b\n\n', '+ b\n\n'],
  ['full', 'keep = ["a"]\ndrop = ["a", "^$"]', 'a\n\na', 'a\na'],
])('MOD-06.2 the lines that a filter knows make its result %s: %s', async (confidence, members, text, left) => {
  expect(await filtered(members, text)).toEqual({ text: left, confidence });
});

test('MOD-06.2 a text of which it knows no line is not what it is for', async () => {
  expect(await filtered('keep = ["^[+]"]\nothers = "drop"', 'odd\n\nlines')).toMatchObject({ confidence: 'fallback' });
});

test('MOD-06.1 a pattern that a backtracking engine would never end with ends', async () => {
  const line = `${'a'.repeat(4000)}!`;
  expect(await filtered("drop = ['^(a+)+$']", `${line}\naaa\n`)).toEqual({ text: `${line}\n`, confidence: 'partial' });
});

test('a text that is too long for its patterns stays as it is', async () => {
  const many = Array.from({ length: 64 }, (_, at) => `"^${at}$"`).join();
  expect(await filtered(`drop = [${many}]`, `1\n${'x\n'.repeat(600_000)}`)).toMatchObject({ confidence: 'fallback' });
});

test('filters with an id that is none, or there twice, are refused', () => {
  const filter = (id: string) => ({
    id,
    matches: () => true,
    filter: (text: string) => ({ text, confidence: 'full' as const }),
  });
  for (const ids of [['a b'], [''], ['a', 'a'], Array.from({ length: 201 }, (_, at) => `f${at}`)])
    expect(() => createOutputFilters(ids.map(filter), silentLog)).toThrow(/output filter/);
});

test('MOD-06 filters come one after the other; what a function gives that is no text counts as fallback', async () => {
  const filters = createOutputFilters(
    [
      { id: 'first', matches: () => true, filter: () => ({ text: 'a\nb', confidence: 'full' }) },
      { id: 'odd', matches: () => true, filter: () => ({ text: 7, confidence: 'full' }) as never },
      { id: 'second', matches: () => true, filter: (text) => ({ text: text.slice(2), confidence: 'partial' }) },
    ],
    silentLog,
  );
  const call = () => ({ toolId: 'x', arguments: {} });
  const given = { deep: ['one\ntwo', 'one line'], n: 1 };
  expect(
    await filters.filter(
      given,
      call,
      () => undefined,
      () => true,
    ),
  ).toEqual({
    result: { deep: ['b', 'one line'], n: 1 },
    filters: [
      { filter: 'first', confidence: 'full' },
      { filter: 'second', confidence: 'partial' },
    ],
  });
  expect(filters.counts().map(({ full, partial, fallback }) => [full, partial, fallback])).toEqual([
    [1, 0, 0],
    [0, 0, 1],
    [0, 1, 0],
  ]);
  expect(
    await filters.filter(
      'one line',
      call,
      () => undefined,
      () => true,
    ),
  ).toBeUndefined();
  expect(
    await filters.filter(
      given,
      call,
      () => undefined,
      () => false,
    ),
  ).toBeUndefined();
});
