import type { CommandPolicy } from '@sallyport/guards';
import type { SandboxDriver } from '@sallyport/sandbox';
import { expect, test } from 'vitest';
import { callOf } from '../conformance/executor-call.fixture.ts';
import { shellExecutor } from '../programs/program-executors.fixture.ts';
import { createShellPolicy } from './shell-policy.ts';
import { createShellScreen } from './shell-screen.ts';

const never = new AbortController().signal;

function shellCall(config: Record<string, unknown>, parameters: Record<string, unknown> = {}) {
  return callOf({ executor: { kind: 'shell', config }, idempotent: true }, parameters);
}

function screened(
  config: Record<string, unknown>,
  parameters: Record<string, unknown> = {},
  policy: CommandPolicy = {},
) {
  const { tool, parameters: given } = shellCall(config, parameters);
  return createShellScreen(createShellPolicy(policy))(tool, given);
}

const refusal = (config: Record<string, unknown>, parameters?: Record<string, unknown>): unknown =>
  screened(config, parameters).refused;

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['a command that reads', { command: ['cat', '--', '{a}'] }, { a: 'notes.txt' }],
  ['a command of which nothing is known', { command: ['make', '{a}'] }, { a: 'all' }],
  ['a text that only speaks of harm', { command: ['notify', '{a}'] }, { a: 'Never run rm -rf / anywhere.' }],
  [
    'a value in a script of the manifest',
    { command: ['sh', '-c', 'grep -- "$1" f', 'sh', '{a}'] },
    { a: '$(rm -rf /)' },
  ],
  ['a long input', { command: ['cat'], stdin: '{a}' }, { a: 'rm -rf /\n'.repeat(50_000) }],
])('%s is not refused', (_, config, parameters) => {
  expect(refusal(config, parameters)).toBeUndefined();
});

test.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
  ['a command of the manifest', { command: ['sudo', 'rm', '-rf', '/'] }, {}, 'deletes-system'],
  ['a value that makes it one', { command: ['rm', '-r', '--', '{a}'] }, { a: '/' }, 'deletes-system'],
  ['a value that a script runs', { command: ['sh', '-c', 'eval "$1"', 'sh', '{a}'] }, { a: 'reboot' }, 'stops-system'],
  ['a value that is written', { command: ['cp', '--', 'x', '{a}'] }, { a: '/etc/passwd' }, 'writes-system'],
  ['words that come in', { command: ['xargs', 'rm', '-r'], stdin: '{a}' }, { a: '/etc' }, 'deletes-system'],
])('EXE-02 %s is refused where it does harm', (_, config, parameters, rule) => {
  expect(refusal(config, parameters)).toMatchObject({
    code: 'E3210',
    details: { screen: 'shell', rules: expect.arrayContaining([rule]) },
  });
});

test('a value that no argument may have is refused as it is when the command is filled', () => {
  expect(refusal({ command: ['cat', '{a}'] }, { a: '-x' })).toMatchObject({ code: 'E3505' });
});

test('EXE-02.3 a policy is swapped while calls run, and the next look at the same call takes the new one', () => {
  const policy = createShellPolicy({ blocked: ['make deploy'] });
  const screen = createShellScreen(policy);
  const { tool, parameters } = shellCall({ command: ['make', '{a}'] }, { a: 'deploy' });
  expect(screen(tool, parameters).refused).toMatchObject({ code: 'E3210', details: { rules: ['blocked-by-policy'] } });
  policy.replace({});
  expect(screen(tool, parameters).refused).toBeUndefined();
  policy.replace({ mode: 'allowlist', allowed: ['make test'] });
  expect(screen(tool, parameters).refused).toMatchObject({ code: 'E3210' });
  expect(screen(tool, parameters)).toBe(screen(tool, parameters));
});

test('EXE-02.1 neither path of the executor starts anything that is blocked', async () => {
  let started = 0;
  const driver = {
    start() {
      started += 1;
      return Promise.reject(new Error('started'));
    },
  } as unknown as SandboxDriver;
  const executor = shellExecutor(driver);
  const blocked = shellCall({ command: ['mkfs.ext4', '/dev/sda'] });
  await expect(executor.execute(blocked, never)).rejects.toMatchObject({ code: 'E3210' });
  await expect(executor.executeConfirmed(blocked, never)).rejects.toMatchObject({ code: 'E3210' });
  expect(started).toBe(0);
  await expect(executor.execute(shellCall({ command: ['ls'] }), never)).rejects.toThrow('started');
});

test.each<[string, Record<string, unknown>, Record<string, unknown>, CommandPolicy, string | undefined]>([
  ['the program that the tool names', { command: ['touch', '--', '{a}'] }, { a: 'x' }, {}, undefined],
  ['an unknown program of the tool', { command: ['/srv/project/bin/format', '{a}'] }, { a: 'x' }, {}, undefined],
  ['a script file of the tool', { command: ['sh', '/srv/rename.sh', '{a}'] }, { a: 'x' }, {}, undefined],
  ['a program file of the tool', { command: ['python3', '/srv/tool.py', '{a}'] }, { a: 'x' }, {}, undefined],
  ['a script file of the caller', { command: ['sh', '{a}'] }, { a: '/srv/x.sh' }, {}, 'runs-file'],
  ['a program file of the caller', { command: ['python3', '{a}'] }, { a: '/srv/x.py' }, {}, 'runs-code'],
  [
    'an effect in a script of the tool',
    { command: ['sh', '-c', 'touch -- "$1"', 'sh', '{a}'] },
    { a: 'x' },
    {},
    'has-effect',
  ],
  ['a program behind another', { command: ['timeout', '5', 'make', '{a}'] }, { a: 'x' }, {}, 'unknown-program'],
  ['code in another language', { command: ['python3', '-c', 'print(1)'] }, {}, {}, 'runs-code'],
  [
    'code that the operator allows',
    { command: ['python3', '-c', 'print(1)'] },
    {},
    { allowed: ['python3 -c'] },
    undefined,
  ],
  ['a file that the operator allows', { command: ['sh', '{a}'] }, { a: '/srv/x.sh' }, { allowed: ['sh'] }, undefined],
  ['a use that may change things', { command: ['git', '{a}'] }, { a: 'push' }, {}, 'unsafe-option'],
  ['a use that reads', { command: ['git', '{a}'] }, { a: 'status' }, {}, undefined],
  [
    'a rule that only asks',
    { command: ['rm', '-rf', '{a}'] },
    { a: 'x' },
    { asked: ['deletes-by-force'] },
    'deletes-by-force',
  ],
  [
    'an effect that the operator wants asked',
    { command: ['touch', '{a}'] },
    { a: 'x' },
    { asked: ['has-effect'] },
    'has-effect',
  ],
])('EXE-02 %s: what a person is asked', (_, config, parameters, policy, rule) => {
  const { refused, question, unconfirmed } = screened(config, parameters, policy);
  expect(refused).toBeUndefined();
  if (rule === undefined) expect([question, unconfirmed]).toEqual([undefined, undefined]);
  else {
    expect(question).toContain(`(${rule})`);
    expect(unconfirmed).toMatchObject({
      code: 'E3210',
      details: { screen: 'shell', rules: [rule], reason: 'executor' },
    });
  }
});

test('EXE-02 nothing is asked about what is blocked, and an allowlist blocks what would be asked about', () => {
  const both = { command: ['sh', '-c', 'eval "$1"; reboot', 'sh', '{a}'] };
  expect(screened(both, { a: 'ls' })).toMatchObject({ refused: { code: 'E3210' }, question: undefined });
  const strict = screened({ command: ['touch', '{a}'] }, { a: 'x' }, { mode: 'allowlist' });
  expect(strict).toMatchObject({ refused: { code: 'E3210' }, question: undefined, unconfirmed: undefined });
});

test('EXE-01.2 the unconfirmed path starts nothing that is asked about, whoever calls it', async () => {
  let started = 0;
  const driver = {
    start() {
      started += 1;
      return Promise.reject(new Error('started'));
    },
  } as unknown as SandboxDriver;
  const executor = shellExecutor(driver);
  const asked = shellCall({ command: ['sh', '-c', 'eval "$1"', 'sh', '{a}'] }, { a: 'ls' });
  expect(executor.requiresConfirmation(asked)).toContain('(eval)');
  await expect(executor.execute(asked, never)).rejects.toMatchObject({ code: 'E3210' });
  expect(started).toBe(0);
  await expect(executor.executeConfirmed(asked, never)).rejects.toThrow('started');
});

test('the message says why, and holds no word of the command', () => {
  const failed = refusal({ command: ['rm', '-rf', '{a}'] }, { a: 'secret-project' });
  expect(failed).toMatchObject({ message: expect.stringContaining('removes files without a question') });
  expect(JSON.stringify(failed)).not.toContain('secret-project');
});
