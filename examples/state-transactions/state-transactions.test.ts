import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** The example starts a layer with its database three times, perhaps on a busy machine. */
const STORY_MS = 120_000;

test(
  'PIPE-03.2 PIPE-03.7 ORC-06 the story of transactions holds, from a call that fails to a layer that is killed',
  async () => {
    const run = fileURLToPath(new URL('run.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [run], { maxBuffer: 16_000_000 });
    expect(stdout).toMatch(/The story holds: \d+ checks\.\n$/);
  },
  STORY_MS,
);
