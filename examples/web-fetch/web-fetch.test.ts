import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** The example starts a layer with its database, perhaps on a busy machine. */
const STORY_MS = 120_000;

test(
  'EXE-05.1 EXE-05.2 EXE-05.4 EXE-05.5 EXE-05.6 the story of web fetch holds, from a page in Markdown to the addresses that nobody reaches',
  async () => {
    const run = fileURLToPath(new URL('run.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [run], { maxBuffer: 16_000_000 });
    expect(stdout).toMatch(/The story holds: \d+ checks\.\n$/);
  },
  STORY_MS,
);
