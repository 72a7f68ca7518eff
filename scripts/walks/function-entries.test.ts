import { expect, test } from 'vitest';
import { walkOf, withCalls } from './function-entries.ts';

test('every function of a source says when it begins, on the line that it has', () => {
  const source =
    'const a = (x: number) => x;\nclass B {\n  async m(): Promise<void> { a(1); }\n}\nexport function c() {\n  return [1].map((y) => ({ y }));\n}\n';
  expect(withCalls('x.ts', source, 7).split('\n')).toEqual([
    'const a = (x: number) => (functionBegins(7), x);',
    'class B {',
    '  async m(): Promise<void> { functionBegins(7); a(1); }',
    '}',
    'export function c() { functionBegins(7);',
    '  return [1].map((y) => (functionBegins(7), ({ y })));',
    '}',
    '',
  ]);
});

test('a walk counts functions, files and changes of file and component', () => {
  const [one, two] = ['/p/packages/sallyport/src/doors/rest/a.ts', '/p/packages/sallyport/src/doors/b.ts'];
  const files = [one, one, two, '/p/packages/std/src/text/c.ts', one];
  const path = ['sallyport/src/doors/rest/a.ts', 'sallyport/src/doors/b.ts', 'std/src/text/c.ts'];
  expect(walkOf(files)).toEqual({ path, entries: 5, files: 3, changesOfFile: 3, changesOfComponent: 2 });
  expect(walkOf([])).toEqual({ path: [], entries: 0, files: 0, changesOfFile: 0, changesOfComponent: 0 });
});
