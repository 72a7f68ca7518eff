import { expect, test } from 'vitest';
import { quotedLines } from './quoted-lines.ts';

const many = (count: number, what: string) => Array.from({ length: count }, (_, at) => `${what} ${at}`);

test('EXE-07 a stack shows what was wrong, and not where in the code', () => {
  const frames = Array.from(
    { length: 12 },
    (_, at) => `    at Module._load (node:internal/modules/cjs/loader:${at}:5)`,
  );
  const said = ['node:internal:1404', '  throw err;', '  ^', '', "Error: Cannot find module '/x.js'", ...frames];
  const end = ["  code: 'MODULE_NOT_FOUND',", '  requireStack: []', '}', '', 'Node.js v24.21.0', ''];
  expect(quotedLines([...said, ...end].join('\n')).split('\n')).toEqual([
    ...['node:internal:1404', '  throw err;', '  ^', "Error: Cannot find module '/x.js'"],
    ...["  code: 'MODULE_NOT_FOUND',", '  requireStack: []', '}', 'Node.js v24.21.0'],
  ]);
});

test('EXE-07 the first fault is kept before a long end', () => {
  const text = [...many(3, 'info'), 'npm error code E404', 'npm error 404 Not Found', ...many(40, 'advice')].join('\n');
  expect(quotedLines(text).split('\n')).toEqual([
    ...['npm error code E404', 'npm error 404 Not Found', 'advice 0', '…'],
    ...many(40, 'advice').slice(-8),
  ]);
});

test('EXE-07 an end without a fault is shown as it is, and every part is bounded', () => {
  expect(quotedLines(many(20, 'line').join('\n'))).toBe(many(20, 'line').slice(-8).join('\n'));
  expect(quotedLines('\n \n')).toBe('');
  expect(quotedLines('Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1')).toMatch(/KeyError: 1$/);
  const long = quotedLines(`fatal: ${'x'.repeat(9_000)}\n${'y'.repeat(9_000)}`);
  expect(long).toMatch(/^fatal: x+\n…\ny+$/);
  expect(long.length).toBeLessThan(1_600);
});
