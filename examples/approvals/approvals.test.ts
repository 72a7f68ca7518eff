import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Starts a layer twice and some thirty commands, on a machine that may be busy. */
const STORY_MS = 360_000;

test(
  'ORC-03 ORC-05 VIS-06 the story of approvals holds, from the question to the power cut',
  async () => {
    const run = fileURLToPath(new URL('run.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [run], { maxBuffer: 16_000_000 });
    expect(stdout).toMatch(/The story holds: \d+ checks\.\n$/);
  },
  STORY_MS,
);
