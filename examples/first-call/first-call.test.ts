import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** The example starts two layers and a dozen sandboxes, perhaps on a busy machine. */
const STORY_MS = 180_000;

test(
  'API-01 API-05 PIPE-06.1 AUD-03 SBX-03.2 the story of a first call holds, from an empty folder to a verified audit',
  async () => {
    const run = fileURLToPath(new URL('run.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [run], { maxBuffer: 16_000_000 });
    expect(stdout).toMatch(/The story holds: \d{2} checks\.\n$/);
  },
  STORY_MS,
);
