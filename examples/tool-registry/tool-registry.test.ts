import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** The example starts a layer, a dozen commands and some sandboxes, perhaps on a busy machine. */
const STORY_MS = 180_000;

test(
  'REG-02 REG-03 REG-04 REG-05 REG-09 REG-13 VIS-01 VIS-07 MOD-11 the story of the tool registry holds, from two versions to two tenants',
  async () => {
    const run = fileURLToPath(new URL('run.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [run], { maxBuffer: 16_000_000 });
    expect(stdout).toMatch(/The story holds: \d{2} checks\.\n$/);
  },
  STORY_MS,
);
