import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** The example starts a layer with its database, perhaps on a busy machine. */
const STORY_MS = 120_000;

test(
  'MOD-06.1 MOD-06.6 the story of short results holds: filters leave out lines, a budget cuts, and all can be read',
  async () => {
    const run = fileURLToPath(new URL('run.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [run], { maxBuffer: 16_000_000 });
    expect(stdout).toMatch(/The story holds: \d+ checks\.\n$/);
  },
  STORY_MS,
);
