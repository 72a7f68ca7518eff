import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { KiB } from '@sallyport/std/bytes';
import type { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, describe, expect, test } from 'vitest';
import { memorySkillContents } from '../../../test/stores/tools/memory-skill-contents.ts';
import { executorConformance } from '../conformance/executor.conformance.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import type { ExecutorCall } from '../executor.port.ts';
import { skillExecutor } from '../programs/program-executors.fixture.ts';
import { openFolder, skillFolders, skillWith } from './skill.fixture.ts';

const driver = createBubblewrapDriver();
const { works, problem } = await driver.probe();
const root = openFolder();
chmodSync(root, 0o755);
afterAll(() => rmSync(root, { recursive: true }));
const contents = memorySkillContents();
const files = skillFolders(root, { contents });
const executor = skillExecutor(driver, files);
const never = new AbortController().signal;
const TENANT = 'acme';
const MARK = `skill-mark-${process.pid}`;

const DEMO = skillWith({
  'scripts/hello.sh': '#!/bin/sh\necho "hello $1 from $PWD"; cat; cat reference/notes.md\n',
  'scripts/arguments.py': 'import sys, json\nprint(json.dumps(sys.argv[1:]))\n',
  'scripts/environment.js': 'console.log(JSON.stringify(process.env));\n',
  'scripts/fails.sh': '#!/bin/bash\necho out; echo wrong >&2; exit 3\n',
  'scripts/chatters.py':
    'import os, sys\nfor n in range(9999): print("step", n, file=sys.stderr)\nsys.exit("no key " + os.environ["API_KEY"])\n',
  'scripts/writes.sh': '#!/bin/sh\necho x > reference/notes.md\n',
  'scripts/sleeps.sh': '#!/bin/sh\nsleep 60 &\nsleep 60\n',
  'scripts/makes.sh': '#!/bin/sh\nmkdir -p /tmp/made && echo made\n',
  'scripts/wipes.sh': '#!/bin/sh\nrm -rf / --no-preserve-root\n',
  'reference/notes.md': 'Grüße, notes.\n',
  'reference/raw.bin': Uint8Array.of(0, 255, 254, 1, 2, 3, 4, 5),
});
await files.keep(TENANT, DEMO.config, DEMO.contents);

type More = Parameters<typeof callOf>[2];
const call = (parameters: Record<string, unknown>, more: More = {}): ExecutorCall =>
  callOf(DEMO.manifest, parameters, more);
const run = async (parameters: Record<string, unknown>, more: More = {}) =>
  (await executor.execute(call(parameters, more), never)).result;
const codeOf = (parameters: Record<string, unknown>, more: More = {}) =>
  run(parameters, more).then(
    () => 'well',
    (thrown: { code?: string }) => thrown.code,
  );

function processesWith(mark: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  }).length;
}

test('EXE-08 a call without parameters gives the instructions and what lies beside them', async () => {
  expect(await run({ task: 'greet' })).toMatchObject({
    instructions: '# How\n\nRun `scripts/hello.sh`.\n',
    scripts: expect.arrayContaining(['scripts/hello.sh', 'scripts/arguments.py']),
    files: expect.arrayContaining([{ path: 'reference/notes.md', bytes: 16 }]),
  });
});

test('EXE-08 a bundled file is read by its path, in parts that fit, and text is never cut inside a character', async () => {
  expect(await run({ file: './reference/notes.md' })).toEqual({
    path: 'reference/notes.md',
    bytes: 16,
    offset: 0,
    text: 'Grüße, notes.\n',
    truncated: false,
  });
  const limits = { ...call({}).grant.limits, outputBytesMax: 3 };
  const grant = { ...call({}).grant, limits };
  const first = await run({ file: 'reference/notes.md' }, { grant });
  expect(first).toMatchObject({ text: 'Gr', truncated: true, next_offset: 2 });
  expect(await run({ file: 'reference/notes.md', offset: 2 }, { grant })).toMatchObject({ text: 'ü', next_offset: 4 });
  expect(await run({ file: 'reference/notes.md', offset: 99 })).toMatchObject({ text: '', truncated: false });
  expect(await run({ file: 'reference/raw.bin' })).toMatchObject({ base64: 'AP/+AQIDBAU=', bytes: 8 });
});

test.each([
  ['../../../etc/hostname'],
  ['/etc/hostname'],
  ['reference/../../x'],
  ['reference'],
  [''],
  ['SKILL.md\0'],
  [7],
])('EXE-08 what the skill does not hold is never read: %j', async (file) => {
  expect(await codeOf({ file })).toBe('E3801');
});

test('parameters that make no sense are refused before anything happens, on the screen too', async () => {
  for (const parameters of [
    { script: 'reference/notes.md' },
    { script: 'scripts/hello.sh', file: 'reference/notes.md' },
    { script: 'scripts/hello.sh', arguments: 'text' },
    { script: 'scripts/hello.sh', stdin: 4 },
    { file: 'reference/notes.md', offset: -1 },
  ]) {
    expect(await codeOf(parameters)).toBe('E3801');
    expect(executor.screen?.(call({}).tool, parameters)?.code).toBe('E3801');
  }
  expect(await codeOf({ script: 'scripts/hello.sh', arguments: ['a\0b'] })).toBe('E3505');
  expect(executor.screen?.(call({}).tool, { script: 'scripts/hello.sh', arguments: ['$(rm -rf /)'] })).toBeUndefined();
});

test('a skill whose files are not kept, or were changed, is not run or read', async () => {
  const other = skillWith({ 'a.sh': '#!/bin/sh\necho a\n', 'notes.md': 'before' });
  const { signal } = new AbortController();
  const execute = (parameters: Record<string, unknown>) =>
    executor.execute(callOf(other.manifest, parameters), signal).then(
      ({ result }) => result,
      (thrown: { code?: string }) => thrown.code,
    );
  expect(await execute({ file: 'notes.md' })).toBe('E3901');
  await files.keep(TENANT, other.config, other.contents);
  expect(await execute({ file: 'notes.md' })).toMatchObject({ text: 'before' });
  const folder = (await files.folderOf(TENANT, other.config)) as string;
  chmodSync(join(folder, 'notes.md'), 0o644);
  writeFileSync(join(folder, 'notes.md'), 'behind');
  await contents.sweep(TENANT, new Set(), Number.POSITIVE_INFINITY);
  expect(await execute({ file: 'notes.md' })).toBe('E3901');
  expect(await execute({ script: 'a.sh' })).toBe('E3901');
});

test('a skill without what its kind needs is refused with each place', () => {
  const config = { entry: '', instructions: 'Do it.', files: [], scripts: [], extra: 1 };
  const { manifest } = callOf({ executor: { kind: 'skill', config } }).tool;
  expect(
    executor
      .configFaults(manifest)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(['/executor/config/entry', '/executor/config/extra']);
});

describe.skipIf(!works)(`scripts of skills${works ? '' : `, skipped: ${problem}`}`, () => {
  executorConformance(test, 'skill', async () => ({
    executor,
    works: () => ({
      call: call({ script: 'scripts/arguments.py', arguments: ['a'] }),
      result: { stdout: '["a"]\n', stderr: '', exit_code: 0, truncated: false },
    }),
    fails: () => call({ script: 'scripts/fails.sh' }),
    hangs() {
      return {
        call: call({ script: 'scripts/sleeps.sh', arguments: [MARK] }),
        running: async () => {
          while (processesWith(MARK) === 0) await sleep(5);
        },
      };
    },
    faulty: () => callOf({ executor: { kind: 'skill', config: {} } }).tool.manifest,
    leftovers: () => processesWith(MARK),
    close: async () => {},
  }));

  test('EXE-08 a script runs in the folder of its skill with its arguments and its input', async () => {
    const result = await run({ script: 'scripts/hello.sh', arguments: ['you'], stdin: 'said on stdin\n' });
    const folder = await files.folderOf(TENANT, DEMO.config);
    expect(result).toEqual({
      stdout: `hello you from ${folder}\nsaid on stdin\nGrüße, notes.\n`,
      stderr: '',
      exit_code: 0,
      truncated: false,
    });
  });

  test('EXE-08 arguments are never read by a shell, whatever they hold', async () => {
    const hostile = ['$(id)', '`id`', '; id', '--flag', '*', 'two words', '\n', "'"];
    const { stdout } = (await run({ script: 'scripts/arguments.py', arguments: hostile })) as { stdout: string };
    expect(JSON.parse(stdout)).toEqual(hostile);
  });

  test('EXE-08 a script that failed says with the end of its standard error why, without secrets', async () => {
    const secrets = new Map([['API_KEY', 's3cret-value']]);
    const failing = executor.execute(call({ script: 'scripts/chatters.py' }, { secrets }), never);
    const { failure } = (await failing.catch((thrown: unknown) => thrown)) as ToolLayerError;
    const envelope = failure.details?.['envelope'] as { readonly stderr: string };
    expect(failure).toMatchObject({ code: 'E3108', message: 'scripts/chatters.py failed with exit code 1.' });
    expect(envelope).toMatchObject({ exit_code: 1, truncated: true });
    expect(envelope.stderr).toMatch(/^step \d+\n[\s\S]*step 9998\nno key \[hidden\]\n$/);
    expect(envelope.stderr.length).toBeLessThanOrEqual(16 * KiB);
    const gone = executor.execute(call({ script: 'scripts/fails.sh' }), never);
    await expect(gone).rejects.toMatchObject({
      failure: { details: { envelope: { stdout: 'out\n', stderr: 'wrong\n' } } },
    });
  });

  test('EXE-08 the folder of a skill cannot be changed by its scripts', async () => {
    const written = executor.executeConfirmed(call({ script: 'scripts/writes.sh' }), never);
    await expect(written).rejects.toMatchObject({ code: 'E3108' });
    expect(await files.folderOf(TENANT, DEMO.config)).toBeDefined();
  });

  test('EXE-02 a script whose text the screen asks about runs only confirmed; nothing is asked about other files', async () => {
    const made = call({ script: 'scripts/makes.sh' });
    expect(await executor.requiresConfirmation(made)).toContain('(has-effect)');
    await expect(executor.execute(made, never)).rejects.toMatchObject({
      failure: { code: 'E3210', details: { screen: 'skill', rules: ['has-effect'], reason: 'executor' } },
    });
    expect((await executor.executeConfirmed(made, never)).result).toMatchObject({ stdout: 'made\n' });
    for (const parameters of [{}, { file: 'scripts/makes.sh' }, { script: 'scripts/arguments.py' }])
      expect(await executor.requiresConfirmation(call(parameters))).toBeUndefined();
  });

  test('EXE-02 a script whose text the screen blocks never runs', async () => {
    expect(await codeOf({ script: 'scripts/wipes.sh' })).toBe('E3210');
    const strict = skillExecutor(driver, files, () => BLOCKED);
    for (const path of ['execute', 'executeConfirmed'] as const)
      await expect(strict[path](call({ script: 'scripts/hello.sh' }), never)).rejects.toMatchObject({ code: 'E3210' });
    expect(strict.screen?.(call({}).tool, { script: 'scripts/hello.sh' })?.code).toBe('E3210');
  });

  test('EXE-10.1 a call sets variables of its skill, and never those by which code is found', async () => {
    const environment = { PROJECT: 'demo', LANG: 'de_DE.UTF-8' };
    const secrets = new Map([['API_KEY', 's3cret-value']]);
    const { stdout } = (await run({ script: 'scripts/environment.js' }, { environment, secrets })) as {
      stdout: string;
    };
    expect(stdout).not.toContain('s3cret-value');
    expect(JSON.parse(stdout)).toMatchObject({ ...environment, HOME: '/tmp', API_KEY: '[hidden]' });
    const again = (await run({ script: 'scripts/environment.js' })) as { stdout: string };
    expect(JSON.parse(again.stdout)).not.toHaveProperty('PROJECT');
    for (const name of ['LD_PRELOAD', 'PATH', 'NODE_OPTIONS', 'PYTHONPATH', 'BASH_ENV', 'HOME', 'a-b', '']) {
      expect(await codeOf({ script: 'scripts/environment.js' }, { environment: { [name]: 'x' } })).toBe('E3801');
    }
  });
});

const BLOCKED = {
  verdict: 'blocked',
  findings: [{ rule: 'test', command: '', why: 'it is a test', verdict: 'blocked' }],
  commands: [],
  writes: [],
} as const;
