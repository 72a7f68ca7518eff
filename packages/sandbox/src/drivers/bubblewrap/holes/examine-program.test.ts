import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openHoles } from '../../../linux/holes/open-holes.ts';
import { createBubblewrapDriver } from '../bubblewrap-driver.ts';
import { examineProgram } from './examine-program.ts';
import { BUBBLEWRAP_HOLES } from './known-holes.ts';

const folder = mkdtempSync(join(tmpdir(), 'holes-'));
afterAll(() => rmSync(folder, { recursive: true }));
const { works } = await createBubblewrapDriver().probe();

/** A stand-in for bubblewrap that runs the script; `$1` is its first argument. */
function programThat(script: string, mode = 0o755): string {
  const path = join(folder, `bwrap-${Math.random()}`);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, mode);
  return path;
}

const SAYS = (version: string): string => `[ "$1" = --version ] && exec echo "bubblewrap ${version}"`;
const HELPS = '[ "$1" = --help ] && exec echo "--bind-fd FD DEST"';
/** Makes a folder in the mounted folder (`$3`), as bubblewrap does for the first `--dir` of the trial run. */
const MAKES = 'mkdir "$3/plain"';
/** Makes a folder through the link as well, at the place of the trial's second folder on the host. */
const MAKES_BEYOND = 'mkdir "$(readlink "$3/link" | cut -c 9-)/made"';

async function holesOf(program: string): Promise<readonly string[]> {
  const found = openHoles(BUBBLEWRAP_HOLES, await examineProgram(program));
  return found.map(({ text }) => /CVE-[\d-]+|not known/.exec(text)?.[0] ?? text);
}

test('SBX-02 a bubblewrap that makes folders of the host through a link has that hole, whatever its version says', async () => {
  const leaking = programThat([SAYS('99.0.0'), HELPS, MAKES, MAKES_BEYOND].join('\n'));
  expect(await holesOf(leaking)).toEqual(['CVE-2026-87766']);
  const mended = programThat([SAYS('0.8.0'), HELPS, MAKES].join('\n'));
  expect(await holesOf(mended)).toEqual([]);
  // The stand-in fails before the trial shows anything, so its version decides.
  expect(await holesOf(programThat([SAYS('0.11.2'), HELPS].join('\n')))).toEqual(['CVE-2026-87766']);
  expect(await holesOf(programThat([SAYS('0.12.0'), HELPS].join('\n')))).toEqual([]);
});

test('SBX-02 holes of the set-uid bit are holes only where it is set; they reach the machine', async () => {
  const script = [SAYS('0.11.1'), HELPS, MAKES].join('\n');
  expect(await holesOf(programThat(script))).toEqual([]);
  const program = programThat(script, 0o4755);
  expect(await holesOf(program)).toEqual(['CVE-2026-41163']);
  expect(openHoles(BUBBLEWRAP_HOLES, await examineProgram(program))[0]?.isReached).toBe(true);
});

test('SBX-02 mounting by descriptor is told by the option, which distributions have carried into older versions', async () => {
  const without = ['CVE-2024-42472'];
  expect(await holesOf(programThat([SAYS('0.8.0'), '[ "$1" = --help ] && exec echo none', MAKES].join('\n')))).toEqual(
    without,
  );
  expect(await holesOf(programThat([SAYS('0.8.0'), HELPS, MAKES].join('\n')))).toEqual([]);
});

test('SBX-02 a bubblewrap that says no version is one whose holes nobody knows', async () => {
  expect(await holesOf(programThat([SAYS('built from source'), HELPS, MAKES].join('\n')))).toEqual(['not known']);
});

test.runIf(works)('SBX-02 the trial comes far enough with the bubblewrap of this machine to tell', async () => {
  const { isOpen, version } = await examineProgram('/usr/bin/bwrap');
  expect(isOpen['CVE-2026-87766']).toBeTypeOf('boolean');
  expect(version).toMatch(/^\d+\.\d+/);
});
