import { mkdir, mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@sallyport/std/sha256';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCallFolders, DOCUMENTS_INDEX } from '../call-folders.ts';

const NOW = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const DOCUMENTS = [
  { document_id: 'spec', version: '1', uri: 'document://spec', content: 'one', content_sha256: sha256('one') },
];

let root: string;
beforeEach(async () => {
  root = join(await mkdtemp(join(tmpdir(), 'folders-')), 'documents');
});
afterEach(() => rm(join(root, '..'), { recursive: true, force: true }));

const folders = () => createCallFolders(root, { now: () => NOW });

test('DOC-05.1 two layers on one data folder leave the documents of each other alone', async () => {
  await using first = await folders().open({ documents: DOCUMENTS });
  await using second = await folders().open({ documents: DOCUMENTS });
  for (const { path } of [first, second])
    expect(JSON.parse(await readFile(join(path, DOCUMENTS_INDEX), 'utf8'))).toMatchObject([{ document_id: 'spec' }]);
});

test('DOC-05.1 what layers left that run no more is removed, and nothing of one that may run', async () => {
  const id = '00000000-0000-4000-8000-000000000000';
  const left = [`${hostname()}~${2 ** 30}~${id}`, `${hostname()}~${process.pid}~${id}`, 'another.machine~1~0-a', 'old'];
  const kept = [`${hostname()}~${process.ppid}~${id}`, 'another.machine~1~0-b', 'young'];
  for (const name of [...left, ...kept]) await mkdir(join(root, name, 'run'), { recursive: true });
  const at = async (name: string, ms: number) => utimes(join(root, name), ms / 1000, ms / 1000);
  for (const name of left) await at(name, NOW - 2 * DAY_MS - 1_000);
  for (const name of kept) await at(name, NOW - 2 * DAY_MS + 1_000);
  await using folder = await folders().open({ documents: DOCUMENTS });
  const [own] = folder.path.slice(root.length + 1).split('/');
  expect((await readdir(root)).sort()).toEqual([...kept, own].sort());
});
