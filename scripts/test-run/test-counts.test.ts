import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommand } from '../run-command.ts';
import { closingLine } from './test-counts.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-counts-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs vitest on the given test files and returns the counts that the reporter wrote. */
async function countsOf(files: Readonly<Record<string, string>>): Promise<unknown> {
  for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, name), source);
  const counts = join(folder, 'counts.json');
  const reporter = JSON.stringify(new URL('test-counts.ts', import.meta.url).href);
  const run = `
    import { startVitest } from 'vitest/node';
    import { testCountsReporter } from ${reporter};
    const options = { root: ${JSON.stringify(folder)}, config: false, watch: false, globals: true };
    await startVitest('test', [], { ...options, reporters: [testCountsReporter(${JSON.stringify(counts)})] });
  `;
  await runCommand([process.execPath, '--input-type=module', '--eval', run], { timeoutMs: 60_000 });
  return JSON.parse(readFileSync(counts, 'utf8'));
}

test('passed, failed, expected failures, skipped and to do are counted apart', async () => {
  const source = `
    test('a', () => {});
    describe('group', () => test.each([1, 2])('b %d', () => {}));
    test('c', () => { throw new Error('c'); });
    test.fails('d', () => { throw new Error('d'); });
    test.fails('e', () => {});
    test.skip('f', () => {});
    test.todo('g');
    test('h', ({ skip }) => skip());
  `;
  expect(await countsOf({ 'a.test.js': source })).toEqual({
    passed: 4,
    failed: 2,
    skipped: 3,
    names: { ran: ['a', 'b 1', 'b 2', 'c', 'd', 'e'], skipped: ['f', 'g', 'h'] },
  });
});

test('a file that does not load, a hook that fails and an error outside of tests are failures', async () => {
  const counts = await countsOf({
    'load.test.js': `throw new Error('load');`,
    'syntax.test.js': `test('a', () => {`,
    'hook.test.js': `beforeAll(() => { throw new Error('hook'); }); test('a', () => {});`,
    'outside.test.js': `test('a', () => { setTimeout(() => { throw new Error('late'); }); });
      test('b', () => new Promise((resolve) => setTimeout(resolve, 50)));`,
  });
  expect(counts).toMatchObject({ passed: 2, failed: 4 });
});

test('the closing line names skipped tests only when there are some', () => {
  expect(closingLine({ passed: 12, failed: 0, skipped: 0 })).toBe('12 passed, 0 failed');
  expect(closingLine({ passed: 1, failed: 2, skipped: 3 })).toBe('1 passed, 2 failed, 3 skipped');
});
