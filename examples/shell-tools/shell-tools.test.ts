import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { expect, test } from 'vitest';

/** The example starts a layer with its database, perhaps on a busy machine. */
const STORY_MS = 120_000;

const { works, problem } = await createBubblewrapDriver().probe();

test.skipIf(!works)(
  `EXE-02.1 EXE-03.2 EXE-10.1 SBX-03.2 the story of shell tools holds, from arguments to rollbacks${works ? '' : `, skipped: ${problem}`}`,
  async () => {
    const run = fileURLToPath(new URL('run.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [run], { maxBuffer: 16_000_000 });
    expect(stdout).toMatch(/The story holds: \d+ checks\.\n$/);
  },
  STORY_MS,
);
