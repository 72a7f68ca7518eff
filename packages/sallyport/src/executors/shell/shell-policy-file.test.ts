import { utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Log, silentLog } from '../../telemetry/log.ts';
import { createShellPolicy } from './shell-policy.ts';
import { followShellPolicy, type ShellPolicyFileParts } from './shell-policy-file.ts';

let folder = '';
let file = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shell-policy-'));
  file = join(folder, 'shell-policy.toml');
});
afterEach(() => rm(folder, { recursive: true }));

const follow = async (log: Log = silentLog, disk?: ShellPolicyFileParts['disk']) => {
  const policy = createShellPolicy();
  const parts = { file, settings: { blocked: ['make ship'] }, policy, log, pollMs: 10 };
  const following = await followShellPolicy(disk === undefined ? parts : { ...parts, disk });
  const verdict = (...words: string[]): string => policy.screen()(words).verdict;
  return { verdict, [Symbol.asyncDispose]: () => following[Symbol.asyncDispose]() };
};
/** Replaces the file atomically, so that it is never read while it is empty. */
async function replace(text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

test('OPS-01.4 EXE-02.3 a changed file is in force without a restart, and the settings when it is gone', async () => {
  await using shell = await follow();
  expect([shell.verdict('make', 'ship'), shell.verdict('make', 'deploy')]).toEqual(['blocked', 'ask']);
  await writeFile(file, 'blocked = ["make deploy"]\n');
  await until(() => shell.verdict('make', 'deploy') === 'blocked');
  expect(shell.verdict('make', 'ship')).toBe('ask');
  await replace('mode = "allowlist"\nallowed = ["make test"]\n');
  await until(() => shell.verdict('make', 'other') === 'blocked');
  expect([shell.verdict('make', 'test'), shell.verdict('make', 'ship')]).toEqual(['safe', 'blocked']);
  await rm(file);
  await until(() => shell.verdict('make', 'other') === 'ask');
  expect(shell.verdict('make', 'ship')).toBe('blocked');
});

test.each([
  ['moves their file away', 'missing'],
  ['empties their file', 'reading'],
] as const)('EXE-02.3 rules stay in force while a program %s to write it anew', async (_, at) => {
  const rules = 'blocked = ["make deploy"]\n';
  const put = (text: string): void => {
    writeFileSync(file, text);
    utimesSync(file, 1, 1);
  };
  put(rules);
  let writes = false;
  const disk: ShellPolicyFileParts['disk'] = {
    stat: (path) =>
      stat(path).catch((thrown: unknown) => {
        if (at === 'missing') put(rules);
        throw thrown;
      }),
    async readFile(path, encoding) {
      if (!writes) return readFile(path, encoding);
      writes = false;
      put('');
      return readFile(path, encoding).finally(() => put(rules));
    },
  };
  const seen: string[] = [];
  await using shell = await follow({ ...silentLog, info: () => void seen.push(shell.verdict('make', 'deploy')) }, disk);
  await until(() => seen.length > 0);
  writes = at === 'reading';
  if (at === 'missing') await rm(file);
  else put(`# later\n${rules}`);
  await until(() => seen.length > 1);
  expect(new Set(seen)).toEqual(new Set(['blocked']));
});

test('EXE-02 a version with faults is not taken, and the log says why', async () => {
  await writeFile(file, 'blocked = ["make deploy"]\n');
  const told: string[] = [];
  const log: Log = { ...silentLog, error: (event, fields) => void told.push(`${event} ${String(fields?.['reason'])}`) };
  await using shell = await follow(log);
  await replace('blocked = [\n');
  await until(() => told.length > 0);
  expect(told[0]).toMatch(/shell-policy-not-in-force .*not TOML/);
  await replace('denied = ["x"]\n');
  await until(() => told.some((each) => each.includes('faults: /')));
  expect(shell.verdict('make', 'deploy')).toBe('blocked');
});

test.each([
  ['what is no TOML', 'blocked = ['],
  ['an unknown member', 'block = []'],
  ['a wrong mode', 'mode = "open"'],
  ['a number among commands', 'blocked = [1]'],
  ['an empty command', 'blocked = [""]'],
])('a layer does not start with %s', async (_, text) => {
  await writeFile(file, text);
  await expect(follow()).rejects.toMatchObject({ code: 'E3801', message: expect.stringContaining(file) });
});
