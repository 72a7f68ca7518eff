import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** The example starts a layer, some forty commands and a sandbox, perhaps on a busy machine. */
const STORY_MS = 240_000;

test(
  'PRM-01 PRM-02 PRM-06 PRM-07.3 PRM-08 PRM-10 VAL-01 VAL-04 AUD-04 PIPE-14.1 PIPE-14.2 PIPE-14.3 PIPE-14.4 PIPE-14.8 PIPE-14.9 PIPE-15.2 PIPE-15.3 PIPE-15.4 the story of trust holds, from a token to the record',
  async () => {
    const run = fileURLToPath(new URL('run.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [run], { maxBuffer: 16_000_000 });
    expect(stdout).toMatch(/The story holds: \d{2} checks\.\n$/);
  },
  STORY_MS,
);
