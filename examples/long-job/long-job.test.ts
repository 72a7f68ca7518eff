import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** The example starts a layer with its database twice, perhaps on a busy machine. */
const STORY_MS = 120_000;

test(
  'STA-02.1 STA-04.1 DOC-01 DOC-04.2 the story of a long job holds, through a power cut to its end',
  async () => {
    const run = fileURLToPath(new URL('run.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [run], { maxBuffer: 16_000_000 });
    expect(stdout).toMatch(/The story holds: \d+ checks\.\n$/);
  },
  STORY_MS,
);
