import { Command } from 'commander';
import { expect, test } from 'vitest';
import type { CliParts } from '../../cli-parts.ts';
import { createCommandKit } from '../../command-kit.ts';
import { addCheckCommand } from './command.ts';

async function run(stdin: string, ...args: string[]): Promise<{ code: number; out: string }> {
  let out = '';
  let code = -1;
  const write = (text: string): void => {
    out += text;
  };
  const input = (async function* () {
    yield Buffer.from(stdin);
  })();
  const io = {
    stdin: input,
    stdout: { write },
    stderr: { write },
    env: {},
    cwd: '/project',
    signal: new AbortController().signal,
  };
  const check = new Command();
  addCheckCommand(
    check,
    createCommandKit({ io } as unknown as CliParts, (ended) => {
      code = ended;
    }),
  );
  await check.parseAsync(['command', ...args], { from: 'user' });
  return { code, out };
}

test('check command: 0 for a command that reads, 1 for one to ask about or to block', async () => {
  expect(await run('ls | wc -l\n')).toMatchObject({ code: 0, out: expect.stringContaining('safe') });
  expect(await run('npm test\n')).toMatchObject({ code: 1, out: expect.stringContaining('ask') });
  const { code, out } = await run('echo "$(rm -rf /)"\n');
  expect(code).toBe(1);
  expect(out).toContain('deletes-system');
});

test('check command: a list is the words of one command, and JSON tells all', async () => {
  const { code, out } = await run('["echo", "$(rm -rf /)"]', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    verdict: 'safe',
    findings: [],
    commands: [{ name: 'echo', words: ['echo', '$(rm -rf /)'], depth: 0 }],
    writes: [],
  });
});

test('check command: takes a policy', async () => {
  expect(await run('npm test', '--allow', 'npm test')).toMatchObject({ code: 0 });
  expect(await run('ls', '--block', 'ls')).toMatchObject({ code: 1 });
  expect(await run('ls', '--mode', 'allowlist')).toMatchObject({ code: 1 });
  expect(await run('rm -f x', '--ask', 'deletes-by-force')).toMatchObject({ out: expect.stringContaining('ask') });
});
