import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sha256 } from '../../std/sha256.ts';
import { openFolder, skillWith } from './skill.fixture.ts';
import { createSkillFolders, readKept } from './skill-folders.ts';

let root = '';
beforeEach(() => {
  root = openFolder();
});
afterEach(() => rmSync(root, { recursive: true }));

const SKILL = skillWith({ 'run.sh': '#!/bin/sh\n', 'deep/er/notes.md': 'Notes.' });

test('the files of a skill are kept under their paths, once, and only scripts may be started', async () => {
  const files = createSkillFolders(join(root, 'skills'));
  expect(await files.folderOf(SKILL.config)).toBeUndefined();
  await Promise.all([files.keep(SKILL.config, SKILL.contents), files.keep(SKILL.config, SKILL.contents)]);
  await files.keep(SKILL.config, SKILL.contents);
  const folder = (await files.folderOf(SKILL.config)) as string;
  expect(readdirSync(join(root, 'skills'))).toHaveLength(1);
  expect(readdirSync(folder, { recursive: true }).sort()).toEqual([
    'SKILL.md',
    'deep',
    'deep/er',
    'deep/er/notes.md',
    'run.sh',
  ]);
  expect(statSync(join(folder, 'run.sh')).mode & 0o777).toBe(0o555);
  expect(statSync(join(folder, 'deep/er/notes.md')).mode & 0o777).toBe(0o444);
});

test('a folder that was damaged is not the skill, and keeping it again mends it', async () => {
  const files = createSkillFolders(root);
  await files.keep(SKILL.config, SKILL.contents);
  const folder = (await files.folderOf(SKILL.config)) as string;
  rmSync(join(folder, 'run.sh'));
  symlinkSync('/bin/sh', join(folder, 'run.sh'));
  expect(await files.folderOf(SKILL.config)).toBeUndefined();
  const script = SKILL.config.files.find(({ path }) => path === 'run.sh');
  expect(script === undefined ? script : await readKept(folder, script)).toBeUndefined();
  await files.keep(SKILL.config, SKILL.contents);
  expect(await files.folderOf(SKILL.config)).toBe(folder);
});

test('an import that lacks a content, or brings another one, keeps nothing', async () => {
  const files = createSkillFolders(root);
  await expect(files.keep(SKILL.config, new Map())).rejects.toMatchObject({ code: 'E3801' });
  const forged = new Map(SKILL.contents).set(sha256('Notes.'), Buffer.from('Forged'));
  await expect(files.keep(SKILL.config, forged)).rejects.toMatchObject({ code: 'E3801' });
  const outside = { ...SKILL.config, files: [{ path: '../out', sha256: sha256('Notes.'), bytes: 6 }] };
  await expect(files.keep(outside, SKILL.contents)).rejects.toMatchObject({ code: 'E3801' });
  expect(readdirSync(root)).toEqual([]);
});

test('what an interrupted import left is no skill', async () => {
  mkdirSync(join(root, '.unfinished-1'));
  const files = createSkillFolders(root);
  await files.keep(SKILL.config, SKILL.contents);
  expect(await files.folderOf(SKILL.config)).toBeDefined();
});
