import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../project-files.ts';
import { inOrder, LONGEST } from './test-order.ts';

test('the files that are named as the longest exist, each once', () => {
  expect(LONGEST.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  expect(new Set(LONGEST).size).toBe(LONGEST.length);
});

test('files of a project stay together, the longest come first, and the others keep their order', () => {
  const [longest = '', second = ''] = LONGEST;
  const files = [
    { project: 1, path: 'b.test.ts' },
    { project: 1, path: second },
    { project: 0, path: 'c.test.ts' },
    { project: 1, path: 'a.test.ts' },
    { project: 1, path: longest },
    { project: 0, path: 'd.test.ts' },
  ];
  const ordered = inOrder(files, (file) => file).map(({ project, path }) => `${project} ${path}`);
  expect(ordered).toEqual(['0 c.test.ts', '0 d.test.ts', `1 ${longest}`, `1 ${second}`, '1 b.test.ts', '1 a.test.ts']);
});
