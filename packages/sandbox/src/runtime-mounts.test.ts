import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { runtimeMounts } from './runtime-mounts.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'runtime-mounts-')));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('programs of the base system and names need no mount', () => {
  expect(runtimeMounts(['/usr/bin/perl', '/opt/script'])).toEqual([]);
  expect(runtimeMounts(['/bin/sh'])).toEqual([]);
  expect(runtimeMounts(['node', 'server.js'])).toEqual([]);
  expect(runtimeMounts([])).toEqual([]);
});

test('a program elsewhere brings its folder, and a link also the folder it points to', () => {
  mkdirSync(join(folder, 'real'), { recursive: true });
  mkdirSync(join(folder, 'links'));
  writeFileSync(join(folder, 'real', 'program'), '');
  symlinkSync(join(folder, 'real', 'program'), join(folder, 'links', 'program'));
  expect(runtimeMounts([join(folder, 'real', 'program')])).toEqual([{ path: join(folder, 'real'), mode: 'ro' }]);
  expect(runtimeMounts([join(folder, 'links', 'program')])).toEqual([
    { path: join(folder, 'links'), mode: 'ro' },
    { path: join(folder, 'real'), mode: 'ro' },
  ]);
});

test('a program in the root folder does not bring the whole file system', () => {
  expect(runtimeMounts(['/program'])).toEqual([]);
});

test('a program that does not exist brings its folder, so that the driver names what is missing', () => {
  expect(runtimeMounts(['/nowhere/bin/program'])).toEqual([{ path: '/nowhere/bin', mode: 'ro' }]);
});
