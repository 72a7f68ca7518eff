import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemClock } from '@sallyport/std/clock';
import { sha256 } from '@sallyport/std/sha256';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memorySkillContents } from '../../../test/stores/tools/memory-skill-contents.ts';
import { openFolder, skillFolders, skillWith } from './skill.fixture.ts';
import { readKept } from './skill-folders.ts';

let root = '';
beforeEach(() => {
  root = openFolder();
});
afterEach(() => rmSync(root, { recursive: true }));

const SKILL = skillWith({ 'run.sh': '#!/bin/sh\n', 'deep/er/notes.md': 'Notes.' });
const NOTES = { path: 'deep/er/notes.md', sha256: sha256('Notes.'), bytes: 6 };

test('the files of a skill are kept under their paths, once, and only scripts may be started', async () => {
  const files = skillFolders(join(root, 'skills'));
  expect(await files.folderOf('acme', SKILL.config)).toBeUndefined();
  await Promise.all([
    files.keep('acme', SKILL.config, SKILL.contents),
    files.keep('acme', SKILL.config, SKILL.contents),
  ]);
  await files.keep('acme', SKILL.config, SKILL.contents);
  const folder = (await files.folderOf('acme', SKILL.config)) as string;
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

test('EXE-08 two versions that differ in which files can be started have a folder each', async () => {
  const files = skillFolders(root);
  const later = { ...SKILL.config, scripts: [...SKILL.config.scripts, 'deep/er/notes.md'] };
  const modes: number[] = [];
  for (const version of [SKILL.config, later, SKILL.config]) {
    await files.keep('acme', version, SKILL.contents);
    const folder = (await files.folderOf('acme', version)) as string;
    modes.push(statSync(join(folder, 'deep/er/notes.md')).mode & 0o777);
  }
  expect(modes).toEqual([0o444, 0o555, 0o444]);
});

test('a folder that was damaged is not the skill, and is mended', async () => {
  const files = skillFolders(root);
  await files.keep('acme', SKILL.config, SKILL.contents);
  const folder = (await files.folderOf('acme', SKILL.config)) as string;
  rmSync(join(folder, 'run.sh'));
  symlinkSync('/bin/sh', join(folder, 'run.sh'));
  const script = SKILL.config.files.find(({ path }) => path === 'run.sh');
  expect(script === undefined ? script : await readKept(folder, script)).toBeUndefined();
  expect(await files.folderOf('acme', SKILL.config)).toBe(folder);
});

test('an import that lacks a content, or brings another one, keeps nothing', async () => {
  const files = skillFolders(root);
  await expect(files.keep('acme', SKILL.config, new Map())).rejects.toMatchObject({ code: 'E3801' });
  const forged = new Map(SKILL.contents).set(sha256('Notes.'), Buffer.from('Forged'));
  await expect(files.keep('acme', SKILL.config, forged)).rejects.toMatchObject({ code: 'E3801' });
  const outside = { ...SKILL.config, files: [{ path: '../out', sha256: sha256('Notes.'), bytes: 6 }] };
  await expect(files.keep('acme', outside, SKILL.contents)).rejects.toMatchObject({ code: 'E3801' });
  expect(readdirSync(root)).toEqual([]);
});

describe('over contents that instances share', () => {
  const kept = async (folder: string | undefined) =>
    folder === undefined ? undefined : (await readKept(folder, NOTES))?.toString('utf8');

  test('EXE-08 a folder is made where another instance kept the skill, and mended where it was changed', async () => {
    const contents = memorySkillContents();
    await skillFolders(join(root, 'one'), { contents }).keep('acme', SKILL.config, SKILL.contents);
    const other = skillFolders(join(root, 'two'), { contents });
    const [folder, again] = await Promise.all([
      other.folderOf('acme', SKILL.config),
      other.folderOf('acme', SKILL.config),
    ]);
    expect([await kept(folder), again]).toEqual(['Notes.', folder]);
    rmSync(join(String(folder), 'run.sh'));
    expect(await other.folderOf('acme', SKILL.config)).toBe(folder);
    expect(statSync(join(String(folder), 'run.sh')).mode & 0o777).toBe(0o555);
    expect(readdirSync(join(root, 'two'))).toHaveLength(1);
  });

  test('EXE-08 a tenant has its own: the list of files alone opens nothing of another', async () => {
    const contents = memorySkillContents();
    const files = skillFolders(root, { contents });
    await files.keep('acme', SKILL.config, SKILL.contents);
    for (const tenant of ['globex', '', 'acme\n']) expect(await files.folderOf(tenant, SKILL.config)).toBeUndefined();
    await files.keep('globex', SKILL.config, SKILL.contents);
    expect(readdirSync(root)).toHaveLength(2);
  });

  test('a skill of which a part is gone, or whose paths lead out, is none', async () => {
    const contents = memorySkillContents();
    const files = skillFolders(root, { contents });
    await contents.put('acme', SKILL.contents);
    const more = [{ path: 'gone.md', sha256: sha256('gone'), bytes: 4 }];
    expect(await files.folderOf('acme', { ...SKILL.config, files: [...SKILL.config.files, ...more] })).toBeUndefined();
    for (const path of ['../out', '/out', 'a/../../out'])
      expect(await files.folderOf('acme', { ...SKILL.config, files: [{ ...NOTES, path }] })).toBeUndefined();
    expect(readdirSync(root)).toEqual([]);
  });

  test('a tenant whose room is taken gets back what nobody names any more, once it is old', async () => {
    const bytes = [...SKILL.contents.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
    const contents = memorySkillContents({ contentBytesMax: bytes, tenantBytesMax: bytes + 10 });
    let now = Date.now();
    const clock = { ...systemClock, now: () => now };
    const named = new Set<string>();
    const files = skillFolders(root, { contents, clock, namedBy: async () => named });
    await files.keep('acme', SKILL.config, SKILL.contents);
    const other = skillWith({ 'other.sh': '#!/bin/sh\necho another one' });
    await expect(files.keep('acme', other.config, other.contents)).rejects.toMatchObject({ code: 'E3810' });
    now += 2 * 3_600_000;
    for (const { sha256: hash } of SKILL.config.files) named.add(hash);
    await expect(files.keep('acme', other.config, other.contents)).rejects.toMatchObject({ code: 'E3810' });
    named.clear();
    await files.keep('acme', other.config, other.contents);
    expect(await contents.get('acme', NOTES.sha256)).toBeUndefined();
  });
});

test('what an interrupted import left is no skill', async () => {
  mkdirSync(join(root, '.unfinished-1'));
  const files = skillFolders(root);
  await files.keep('acme', SKILL.config, SKILL.contents);
  expect(await files.folderOf('acme', SKILL.config)).toBeDefined();
});

test('EXE-08.4 when as many skills are kept as allowed, one makes room that no call has used for as long as a call can last', async () => {
  const files = skillFolders(root);
  await files.keep('acme', SKILL.config, SKILL.contents);
  const folder = (await files.folderOf('acme', SKILL.config)) as string;
  for (let at = 1; at < 4_096; at += 1) mkdirSync(join(root, `${at}`));
  const other = skillWith({ 'other.md': 'Other.' });
  await expect(files.keep('acme', other.config, other.contents)).rejects.toMatchObject({ code: 'E3810' });
  const old = Date.now() / 1000 - 25 * 86_400;
  for (const each of [folder, join(root, '1')]) utimesSync(each, old, old);
  await files.folderOf('acme', SKILL.config);
  await files.keep('acme', other.config, other.contents);
  const kept = readdirSync(root);
  expect([kept.includes(basename(folder)), kept.includes('1'), kept.length]).toEqual([true, false, 4_096]);
});

test('EXE-08.4 room is made for several skills at once', async () => {
  const files = skillFolders(root);
  const old = Date.now() / 1000 - 25 * 86_400;
  for (let at = 0; at < 4_096; at += 1) {
    const folder = join(root, `${at}`);
    mkdirSync(folder, { recursive: true });
    utimesSync(folder, old, old);
  }
  const skills = [1, 2, 3].map((at) => skillWith({ 'other.md': `Other ${at}.` }));
  await Promise.all(skills.map(({ config, contents }) => files.keep('acme', config, contents)));
  for (const { config } of skills) expect(await files.folderOf('acme', config)).toBeDefined();
});
