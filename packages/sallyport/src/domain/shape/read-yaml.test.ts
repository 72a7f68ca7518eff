import { describe, expect, test } from 'vitest';
import { readYaml, sayFault } from './read-yaml.ts';

const faultOf = (text: string): string => {
  const read = readYaml(text);
  return 'faults' in read ? sayFault(read.faults[0]) : expect.unreachable('the text must be refused');
};

test.each([
  ['a: 1\nb: [x, "y"]\n', { a: 1, b: ['x', 'y'] }],
  ['{"a": {"b": null}}', { a: { b: null } }],
  ['', null],
  ['1: one\n', { 1: 'one' }],
  ['a: &x {b: 1}\nc: *x\n', { a: { b: 1 }, c: { b: 1 } }],
  // As YAML 1.2 has it, whatever the text says of itself.
  ['a: !!binary AAAA\nb: !!set {x}\n', { a: 'AAAA', b: { x: null } }],
  ['%YAML 1.1\n---\na: yes\n<<: {b: 1}\n', { a: 'yes', '<<': { b: 1 } }],
])('REG-02.3 %j is read', (text, value) => expect(readYaml(text)).toEqual({ value }));

test.each([
  ['a: [1\nb: 2', /at line 2, column 1$/],
  ['a: 1\nb: 2\na: 3\n', /^Map keys must be unique at line 3, column 1$/],
  ['1: one\n"1": two\n', /^Map keys must be unique at line 2, column 1$/],
  ['x:\n  - {a: 1, a: 2}\n', /^Map keys must be unique at line 2, column 12$/],
  ['? [a, b]\n: 1\n', /key must be a text/],
  ['a: 1\n---\nb: 2\n', /^A second document begins, and only one is read at line 2/],
  ['a: *nowhere\n', /Unresolved alias|nowhere/],
  ['a: &a [*a]\n', /leads back/],
])('REG-02.3 %j is refused, with its place', (text, message) => expect(faultOf(text)).toMatch(message));

test('REG-02.3 nesting that exhausts the stack is refused', () => {
  expect(faultOf(`a: ${'['.repeat(100_000)}`)).toMatch(/nested too deep/);
});

describe('REG-02.3 the time grows with the length of the text alone', () => {
  // Each of these took minutes as long as the parser compared each with all before it.
  test('of 200,000 keys', () => {
    const keys = Array.from({ length: 200_000 }, (_, at) => `k${at}: 1`);
    expect(readYaml(keys.join('\n'))).toMatchObject({ value: { k0: 1, k199999: 1 } });
    expect(faultOf([...keys, 'k7: 2'].join('\n'))).toBe('Map keys must be unique at line 200001, column 1');
  });

  test('of 200,000 aliases, of which 2,000 are read', () => {
    const aliases = (count: number) => `a: &a [x]\nb: [${'*a,'.repeat(count)}]`;
    expect(faultOf(aliases(200_000))).toBe('There are 200000 aliases, more than 2000');
    expect(readYaml(aliases(2_000))).toMatchObject({ value: { b: { length: 2_000 } } });
  });

  test('of aliases of aliases, and of a long text that aliases repeat', () => {
    const levels = Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(10)}]`);
    expect(faultOf(`a0: &a0 [x]\n${levels.join('\n')}`)).toMatch(/With its aliases the text has \d+ characters/);
    const long = `a: &a ${'x'.repeat(1_000_000)}\n`;
    expect(faultOf(`${long}b: [${'*a,'.repeat(40)}]`)).toMatch(/With its aliases/);
    expect(readYaml(`${long}b: [${'*a,'.repeat(30)}]`)).toHaveProperty('value.b.29');
  });
});
