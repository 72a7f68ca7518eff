import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { GivenDocument } from '../../domain/document/given-document.ts';
import { type CallFolders, callFolder, createCallFolders } from '../call-folders.ts';

let parent: string;
let folders: CallFolders;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'folders-'));
  folders = createCallFolders(join(parent, 'calls'), { now: Date.now });
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const document = (document_id: string, more: Partial<GivenDocument> = {}): GivenDocument => ({
  ...{ document_id, version: '1', uri: `document://${document_id}`, content: `of ${document_id}` },
  content_sha256: '0'.repeat(64),
  ...more,
});

test('DOC-05.1 each document is a read-only file with a safe name of its own, and a list says what is known of them', async () => {
  const long = 'x'.repeat(100);
  const given = [
    document('../../etc/passwd', { content_type: 'text/plain', title: 'Users' }),
    document('../../etc/passwd', { version: '2', content_type: 'text/markdown' }),
    document(long),
  ];
  await using folder = await folders.open({ documents: given });
  const files = ['1-.._.._etc_passwd.txt', '2-.._.._etc_passwd.md', `3-${long.slice(0, 80)}.md`];
  expect((await readdir(folder.path)).sort()).toEqual([...files, 'documents.json'].sort());
  expect(folder.variables).toEqual({ SALLYPORT_DOCUMENTS: folder.path });
  const index: unknown = JSON.parse(await readFile(join(folder.path, 'documents.json'), 'utf8'));
  expect(index).toEqual(given.map(({ content: _content, ...known }, at) => ({ ...known, file: files[at] })));
  for (const [at, { content }] of given.entries())
    expect(await readFile(join(folder.path, files[at] ?? ''), 'utf8')).toBe(content);
  for (const name of [...files, 'documents.json'])
    expect((await stat(join(folder.path, name))).mode & 0o777).toBe(0o444);
  // A program under another user enters it.
  expect((await stat(folder.path)).mode & 0o005).toBe(0o005);
});

test('EXT-04 the context of a session is a file, with or without documents, until the run ends', async () => {
  const session = { project: 'p1' };
  const alone = await folders.open({ session });
  const file = alone.variables['SALLYPORT_SESSION_CONTEXT'] ?? '';
  expect([Object.keys(alone.variables), await readdir(alone.path)]).toEqual([
    ['SALLYPORT_SESSION_CONTEXT'],
    [file.slice(alone.path.length + 1)],
  ]);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(session);
  await using both = await folders.open({ documents: [document('spec')], session });
  expect(Object.keys(both.variables).sort()).toEqual(['SALLYPORT_DOCUMENTS', 'SALLYPORT_SESSION_CONTEXT']);
  await alone[Symbol.asyncDispose]();
  await expect(stat(alone.path)).rejects.toThrow('ENOENT');
  await stat(both.path);
});

test('DOC-05 a folder is made again where it could not be made before, and nothing is left of one that could not be filled', async () => {
  await writeFile(join(parent, 'calls'), 'in the way');
  await expect(folders.open({ documents: [document('spec')] })).rejects.toThrow('calls');
  await rm(join(parent, 'calls'));
  await using folder = await folders.open({ documents: [document('spec')] });
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  await expect(folders.open({ documents: [document('spec')], session: cyclic })).rejects.toThrow(TypeError);
  expect(await readdir(join(folder.path, '..'))).toEqual([folder.path.split('/').at(-1)]);
});

test('DOC-05 EXT-04 a call that brings nothing has no folder, one with a session at least an empty context', async () => {
  expect(await callFolder(folders, {})).toBeUndefined();
  await using empty = await callFolder(folders, { sessionContext: async () => undefined });
  expect(await readFile(empty?.variables['SALLYPORT_SESSION_CONTEXT'] ?? '', 'utf8')).toBe('{}');
  await using full = await callFolder(folders, { sessionContext: async () => ({ project: 'p1' }) });
  expect(JSON.parse(await readFile(full?.variables['SALLYPORT_SESSION_CONTEXT'] ?? '', 'utf8'))).toEqual({
    project: 'p1',
  });
  await using none = await callFolder(folders, { documents: [] });
  expect(await readFile(join(none?.path ?? '', 'documents.json'), 'utf8')).toBe('[]');
});
