import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ROOT, readProjectFile } from '../../../scripts/project-files.ts';
import type { Walk } from '../../../scripts/walks/function-entries.ts';

const REST = 'REST POST /v1/invocations, native pure tool';

/** See docs/adr/0024-the-path-of-a-call-has-a-bound.md. */
const FILES_MAX = 175;
const CHANGES_OF_FILE_MAX = 510;

test('PIPE-02 a call takes the path that ARCHITECTURE.md shows, which has a bound', async () => {
  const script = join(ROOT, 'scripts/walks/walks.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', script, '--json']);
  const walks = JSON.parse(stdout) as Readonly<Record<string, Walk>>;
  expect(Object.values(walks).map(({ entries }) => entries > 100)).toEqual([true, true, true, true]);

  const [, section = ''] = /^## The path of a call\n(.*?)^## /ms.exec(readProjectFile('ARCHITECTURE.md')) ?? [];
  const shown = [...section.matchAll(/^\| `([^`]+\.ts)` \|/gm)].map(([, file]) => `sallyport/src/${file}`);
  expect(shown.length).toBeGreaterThan(30);
  const places = new Set(shown);
  expect(walks[REST]?.path.filter((file) => places.has(file))).toEqual(shown);
  expect(walks[REST]?.files).toBeLessThanOrEqual(FILES_MAX);
  expect(walks[REST]?.changesOfFile).toBeLessThanOrEqual(CHANGES_OF_FILE_MAX);
});
