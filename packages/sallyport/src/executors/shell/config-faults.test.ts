import { expect, test } from 'vitest';
import { callOf } from '../conformance/executor-call.fixture.ts';
import { configFaults } from './config-faults.ts';

function faults(config: Record<string, unknown>, more: Parameters<typeof callOf>[0] | object = {}): string[] {
  const manifest = callOf({
    parameters_schema: { type: 'object', properties: { a: {}, b: {} } },
    ...more,
    executor: { kind: 'shell', config },
  }).tool.manifest;
  return configFaults(manifest).map(({ path, code }) => `${code} ${path}`);
}

test.each<[string, Record<string, unknown>]>([
  ['a fixed command', { command: ['wc', '-w'] }],
  [
    'every member',
    {
      command: ['/usr/bin/tool', '--a={a}', '{b}'],
      stdin: '{a}',
      environment: { LANG: 'C.UTF-8' },
      working_directory: '/tmp/work',
      output: 'json',
      success_exit_codes: [0, 1],
      allow_leading_dash: true,
    },
  ],
  ['values beside a script', { command: ['sh', '-c', 'grep -- "$1" "$2"', 'sh', '{a}', '{b}'] }],
  ['values for a script file', { command: ['python3', '/app/tool.py', '-c', '{a}', '-e', '{b}'] }],
  ['values for a module', { command: ['python3', '-m', 'tool', '-c', '{a}'] }],
  ['files for awk and sed', { command: ['awk', '-F', ',', '{print $1}', '{a}'] }],
  ['a program file for sed', { command: ['sed', '-n', '-e', 's/x/y/', '{a}'] }],
  ['input for a script', { command: ['bash', '-ec', 'cat'], stdin: 'json' }],
  ['code for a language that is no shell', { command: ['python3', '-'], stdin: '{a}' }],
  ['a text in braces beside the parameter', { command: ['p', '{{a}}', '{a}'] }],
  ['a text in braces with the name of no parameter', { command: ['p', '{{c}}'] }],
  ['a text in braces where the program reads all parameters', { command: ['p', '{{a}}'], stdin: 'json' }],
])('%s has no faults', (_, config) => {
  expect(faults(config)).toEqual([]);
});

test.each<[string, Record<string, unknown>, string]>([
  ['no command', {}, '/command'],
  ['an empty command', { command: [] }, '/command'],
  ['a program from a parameter', { command: ['{a}'] }, '/command/0'],
  ['a program with a place', { command: ['/usr/bin/{a}', 'x'] }, '/command/0'],
  ['an empty program', { command: [''] }, '/command/0'],
  ['a NUL character', { command: ['p', 'x\0'] }, '/command/1'],
  ['a number as argument', { command: ['p', 1] }, '/command/1'],
  ['an unknown parameter', { command: ['p', '{c}'] }, '/command/1'],
  ['a parameter in braces twice, used nowhere else', { command: ['p', '--n={{a}}', '{b}'] }, '/command/1'],
  ['an unknown parameter for stdin', { command: ['p'], stdin: '{c}' }, '/stdin'],
  ['another word for stdin', { command: ['p'], stdin: 'yaml' }, '/stdin'],
  ['an unknown member', { command: ['p'], shell: true }, '/shell'],
  ['an unknown output', { command: ['p'], output: 'xml' }, '/output'],
  ['an exit code above 255', { command: ['p'], success_exit_codes: [256] }, '/success_exit_codes/0'],
  ['a relative working directory', { command: ['p'], working_directory: 'work' }, '/working_directory'],
  ['a working directory with dots', { command: ['p'], working_directory: '/tmp/../etc' }, '/working_directory'],
])('%s is a fault', (_, config, place) => {
  expect(faults(config)).toEqual([`E3008 /executor/config${place}`]);
});

test('a variable must have the name of one', () => {
  expect(faults({ command: ['p'], environment: { 'A B': 'x' } })).not.toEqual([]);
  expect(faults({ command: ['p'], environment: { A: 1 } })).not.toEqual([]);
});

test.each<[readonly string[], number]>([
  [['sh', '-c', 'echo {a}'], 2],
  [['/bin/bash', '-lc', 'echo {a}'], 2],
  [['bash', '-O', 'extglob', '-c', '{a}'], 4],
  [['sh', '-c', '-e', 'echo {a}'], 3],
  [['env', 'X=1', 'sh', '-c', 'echo "{a}"'], 4],
  [['find', '/tmp', '-exec', 'sh', '-c', 'rm {a}', ';'], 5],
  [['timeout', '5', 'xargs', 'bash', '-c', '{a}'], 5],
  [['python3', '-c', 'print("{a}")'], 2],
  [['python3.11', '-W', 'ignore', '-c', '{a}'], 4],
  [['python3', '-c{a}'], 1],
  [['node', '-e', '{a}'], 2],
  [['node', '--require', './setup.js', '--eval={a}'], 3],
  [['node', '-pe', '{a}'], 2],
  [['perl', '-ne', 'print if /{a}/'], 2],
  [['ruby', '-e', '{a}'], 2],
  [['php', '-r', '{a}'], 2],
  [['awk', '/{a}/', 'file'], 1],
  [['awk', '-F', ',', '-v', 'x=1', '{{print}} {a}'], 5],
  [['sed', '-n', 's/{a}/x/', 'file'], 2],
  [['sed', '-e', 's/x/y/', '-e', '{a}p'], 4],
])('a parameter that becomes code is a fault: %j', (command, index) => {
  expect(faults({ command })).toEqual([`E3008 /executor/config/command/${index}`]);
});

test.each([[['sh']], [['bash', '-s', 'x']], [['env', 'sh', '-e']], [['bash', '-s', '{b}']]])(
  'a parameter that a shell reads as its script is a fault: %j',
  (command) => {
    expect(faults({ command, stdin: '{a}' })).toEqual(['E3008 /executor/config/stdin']);
    expect(faults({ command })).toEqual([]);
  },
);

test('secrets must have names of variables, which the manifest does not set itself', () => {
  const permissions = { credentials: ['API_KEY'] };
  expect(faults({ command: ['p'] }, { permissions })).toEqual([]);
  expect(faults({ command: ['p'], environment: { API_KEY: 'x' } }, { permissions })).toEqual([
    'E3008 /executor/config/environment/API_KEY',
  ]);
  expect(faults({ command: ['p'] }, { permissions: { credentials: ['api-key'] } })).toEqual(['E3008 /executor/config']);
});

test('without a list of properties any parameter may be named', () => {
  expect(faults({ command: ['p', '{anything}'] }, { parameters_schema: { type: 'object' } })).toEqual([]);
});
