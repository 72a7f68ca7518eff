import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ensureSystemPackages, type Machine, SYSTEM_PACKAGES } from './system-packages.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'system-packages-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A fake machine whose apt-get installs the programs, or fails. */
function machine(options: { readonly mayInstall: boolean; readonly aptWorks?: boolean }): Machine & { ran: string[] } {
  const ran: string[] = [];
  const run: Machine['run'] = async (command) => {
    ran.push(command.join(' '));
    if (options.aptWorks !== true) return { code: 100, output: 'E: no network' };
    if (command.includes('install')) for (const entry of SYSTEM_PACKAGES) place(entry.command);
    return { code: 0, output: '' };
  };
  return { path: [join(folder, 'none'), folder], mayInstall: options.mayInstall, run, ran };
}

const place = (command: string, mode = 0o755) => writeFileSync(join(folder, command), '', { mode });
const NAMES = SYSTEM_PACKAGES.map((entry) => entry.package).join(' ');

test('nothing happens when every program is on the path', async () => {
  for (const { command } of SYSTEM_PACKAGES) place(command);
  const there = machine({ mayInstall: true });
  expect(await ensureSystemPackages({ install: true }, there)).toEqual({ missing: [], installed: [] });
  expect(there.ran).toEqual([]);
});

test('what is missing is installed where that is allowed', async () => {
  const bare = machine({ mayInstall: true, aptWorks: true });
  const report = await ensureSystemPackages({ install: true }, bare);
  expect(report).toEqual({ missing: [], installed: SYSTEM_PACKAGES });
  expect(bare.ran).toEqual(['apt-get update -q', `apt-get install -q -y --no-install-recommends ${NAMES}`]);
});

test.each([
  ['nobody asked for it', { mayInstall: true }, false],
  ['it is not allowed', { mayInstall: false }, true],
] as const)('nothing is installed when %s, and the advice says what to type', async (_, abilities, install) => {
  const bare = machine({ ...abilities, aptWorks: true });
  const report = await ensureSystemPackages({ install }, bare);
  expect(bare.ran).toEqual([]);
  expect(report.missing).toEqual(SYSTEM_PACKAGES);
  expect(report.advice).toContain(`sudo apt-get update && sudo apt-get install -y ${NAMES}`);
  for (const { absence } of SYSTEM_PACKAGES) expect(report.advice).toContain(absence);
});

test('an installation that fails is reported with its reason', async () => {
  const report = await ensureSystemPackages({ install: true }, machine({ mayInstall: true }));
  expect(report.missing).toEqual(SYSTEM_PACKAGES);
  expect(report.advice).toContain('E: no network');
});

test('a folder of that name and a file that cannot be executed are not the program', async () => {
  const [first] = SYSTEM_PACKAGES;
  mkdirSync(join(folder, first?.command ?? ''));
  const report = await ensureSystemPackages({ install: false }, machine({ mayInstall: false }));
  expect(report.missing).toContain(first);
});
