import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { fillCommand, parseTemplate } from './argument-template.ts';

function fill(command: readonly string[], parameters: Record<string, unknown>, allowDash = false): string[] {
  return fillCommand(command.map(parseTemplate), parameters, allowDash);
}

test.each<[string, readonly string[], Record<string, unknown>, string[]]>([
  ['a fixed command stays', ['wc', '-w'], {}, ['wc', '-w']],
  [
    'a value is one argument, whatever it holds',
    ['p', '{a}'],
    { a: 'x; rm "$HOME" `id`\n*' },
    ['p', 'x; rm "$HOME" `id`\n*'],
  ],
  ['a value inside an argument', ['p', '--n={a}-{b}'], { a: 1, b: true }, ['p', '--n=1-true']],
  ['an empty value is an empty argument', ['p', '{a}'], { a: '' }, ['p', '']],
  ['an absent value leaves its argument out', ['p', '--n={a}', '{b}', 'x'], { b: null }, ['p', 'x']],
  ['an array alone becomes several arguments', ['p', '{a}'], { a: ['x', 2] }, ['p', 'x', '2']],
  ['an array inside an argument is JSON', ['p', 'a={a}'], { a: ['x', 2] }, ['p', 'a=["x",2]']],
  ['an object is JSON', ['p', '{a}'], { a: { b: 1 } }, ['p', '{"b":1}']],
  ['doubled braces are text', ['p', '{{a}}{a}'], { a: 1 }, ['p', '{a}1']],
  [
    'other braces are text',
    ['awk', '{print $1}', '{}', '{ a }', '{1}'],
    { a: 1 },
    ['awk', '{print $1}', '{}', '{ a }', '{1}'],
  ],
  ['a value is not read again', ['p', '{a}'], { a: '{b}', b: 'no' }, ['p', '{b}']],
  ['names of prototypes are no parameters', ['p', '{constructor}', '{__proto__}'], {}, ['p']],
  ['a dash after -- is text', ['p', '--', '{a}'], { a: '-rf' }, ['p', '--', '-rf']],
  ['a dash behind a fixed beginning is text', ['p', '-n{a}', 'x{a}'], { a: '-1' }, ['p', '-n-1', 'x-1']],
])('%s', (_, command, parameters, expected) => {
  expect(fill(command, parameters)).toEqual(expected);
});

test.each<[string, readonly string[], Record<string, unknown>]>([
  ['an option', ['p', '{a}'], { a: '-rf' }],
  ['an option in an array', ['p', '{a}'], { a: ['x', '--exec=sh'] }],
  ['an option from two values', ['p', '{a}{b}'], { a: '', b: '-x' }],
  ['a dash alone', ['p', '{a}'], { a: '-' }],
  ['an option before --', ['p', '{a}', '--'], { a: '-x' }],
  ['a NUL character', ['p', '{a}'], { a: 'x\0y' }],
])('%s is refused, with the place of the parameter', (_, command, parameters) => {
  expect(() => fill(command, parameters)).toThrow(
    expect.objectContaining({
      code: 'E3505',
      failure: expect.objectContaining({
        details: { faults: [expect.objectContaining({ path: '/a', code: 'E3505' })] },
      }),
    }),
  );
});

test('EXE-02 an argument is as long as Linux takes, in bytes, and no longer', () => {
  const longest = 'x'.repeat(131_071);
  expect(fill(['p', '{a}'], { a: longest })).toEqual(['p', longest]);
  expect(spawnSync('true', [longest]).status).toBe(0);
  expect(spawnSync('true', [`${longest}x`]).error).toMatchObject({ code: 'E2BIG' });
  for (const a of [`${longest}x`, '€'.repeat(43_691), [longest, `${longest}x`]])
    expect(() => fill(['p', '{a}'], { a })).toThrow(/131072|131073/);
  expect(() => fill(['p', '--b={a}'], { a: longest })).toThrow(/takes 131071/);
  expect(() => fill(['p', '{a}'], { a: Array.from({ length: 9 }, () => longest) })).toThrow(/takes 1048576/);
});

test('a manifest may allow a leading dash, never a NUL character', () => {
  expect(fill(['p', '{a}'], { a: '-rf' }, true)).toEqual(['p', '-rf']);
  expect(() => fill(['p', '{a}'], { a: '\0' }, true)).toThrow();
});
