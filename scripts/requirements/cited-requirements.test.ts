import { expect, test } from 'vitest';
import { type CitationKind, citationsIn, idsInFront } from './cited-requirements.ts';

const GROUPS = new Set(['REG', 'PIPE']);

function check(name: string, source: string, expected: readonly [ids: string, kind: CitationKind][]): void {
  test(name, () => {
    const found = citationsIn(source, GROUPS).map(({ ids, kind }) => [ids.join(' '), kind]);
    expect(found).toEqual(expected);
  });
}

check('a plain test cites the id in front of its name', `test('REG-03 a range', () => {});`, [['REG-03', 'run']]);
check('a name may cite several ids', `it('PIPE-04 PIPE-11, REG-01: all', f);`, [['PIPE-04 PIPE-11 REG-01', 'run']]);
check('an id within the name is not a citation', `test('as REG-03 says', f);`, []);
check('a template literal cites', `test(\`REG-03 \${version} wins\`, f);`, [['REG-03', 'run']]);
check('an expected failure is marked', `test.fails('REG-03 x', f);`, [['REG-03', 'expected-failure']]);
check('an expected failure by option', `test('REG-03 x', { fails: true }, f);`, [['REG-03', 'expected-failure']]);
check('a test that is switched off proves nothing', `test.skip('REG-03 x', f); it.todo('REG-04 y');`, [
  ['REG-03', 'skipped'],
  ['REG-04', 'skipped'],
]);
check('a test that depends on the machine cites', `test.skipIf(!redis)('REG-03 x', f);`, [['REG-03', 'run']]);
check('modifiers may be chained', `test.concurrent.fails('REG-03 x', f);`, [['REG-03', 'expected-failure']]);
check('each with its own name', `test.each([1, 2])('REG-03 %d', f);`, [['REG-03', 'run']]);
check('each with names from the table', `test.each([['REG-03 a', 1], ['REG-04 b', 2]])('%s', f);`, [
  ['REG-03', 'run'],
  ['REG-04', 'run'],
]);
check('each with named columns', `it.each([{ name: 'PIPE-04 a', note: 'REG-99' }])('$name', f);`, [
  ['PIPE-04', 'run'],
  ['REG-99', 'run'],
]);
check(
  'a group lends its ids to the tests within',
  `describe('REG-03 ranges', () => { test('plain', f); describe('inner', () => { test('REG-04 own', f); }); });
   test('outside', f);`,
  [
    ['REG-03', 'run'],
    ['REG-03 REG-04', 'run'],
  ],
);
check('a group that is switched off switches off its tests', `describe.skip('x', () => { test('REG-03 y', f); });`, [
  ['REG-03', 'skipped'],
]);
check(
  'tests inside functions, loops and suites are found',
  `export const suite = (test) => { for (;;) test('REG-03 x', f); };`,
  [['REG-03', 'run']],
);
check('the check function of a table of cases cites', `check('PIPE-04 case', input, output);`, [['PIPE-04', 'run']]);
check('a method of the test context cites', `await t.test('REG-03 sub', f);`, [['REG-03', 'run']]);
check('other calls do not cite', `console.log('REG-03 a'); expect('REG-03 a'); new Map([['REG-03', 1]]);`, []);
check('comments and texts do not cite', `// test('REG-03 x')\nconst text = "test('REG-04 x')";`, []);
check('types do not disturb', `test<{ a: number }>('REG-03 x', async ({ a }: { a: number }) => void a);`, [
  ['REG-03', 'run'],
]);

test('an id of an unknown group is found, so that a slip of the pen is', () => {
  expect(idsInFront('RGE-03 a range', GROUPS)).toEqual(['RGE-03']);
  expect(idsInFront('REG-3 a range', GROUPS)).toEqual(['REG-3']);
});

test('names of encodings and hashes are no ids', () => {
  expect(idsInFront('UTF-16 surrogates', GROUPS)).toEqual([]);
  expect(idsInFront('SHA-256 of nothing', GROUPS)).toEqual([]);
  expect(idsInFront('BC-2 contract', GROUPS)).toEqual([]);
});

test('the line of a citation is the line of its call', () => {
  const source = "#!/usr/bin/env node\n// é\n\ntest('REG-03 x', f);\n";
  expect(citationsIn(source, GROUPS).map(({ line }) => line)).toEqual([4]);
});
