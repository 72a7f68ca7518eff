import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { expect, test } from 'vitest';

/** The example starts a layer with its database, perhaps on a busy machine. */
const STORY_MS = 120_000;

const { works, problem } = await createBubblewrapDriver().probe();

test.skipIf(!works)(
  `STA-01.5 STA-02.1 PIPE-11.5 the story of checkpoints holds: a shell script and a Node program continue${works ? '' : `, skipped: ${problem}`}`,
  async () => {
    const run = fileURLToPath(new URL('run.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [run], { maxBuffer: 16_000_000 });
    expect(stdout).toMatch(/The story holds: \d+ checks\.\n$/);
  },
  STORY_MS,
);
