import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxDriver } from '@sallyport/sandbox';
import { expect, onTestFinished, test } from 'vitest';
import type { OperationParts } from '../../../operations/parts.ts';
import { CONTEXT_OVERRIDES } from '../../../reference-servers/context-server.ts';
import { DOCUMENT_OVERRIDES } from '../../../reference-servers/documents.ts';
import { type Log, silentLog } from '../../../telemetry/log.ts';
import { readSettings } from '../../read-settings.ts';
import type { Settings } from '../../settings.ts';
import { addReferenceServer } from './add-reference-server.ts';
import { documentFiles } from './document-files.ts';
import { documentReader } from './document-reader.ts';

const { signal } = new AbortController();
const settingsWith = (given: Partial<Settings>): Settings => readSettings({ environment: {}, given });

test('DOC-01.4 EXE-04.2 files of the opened folders are read for the own tenant alone, and none of those that are closed', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'documents-')));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'own'));
  await writeFile(join(folder, 'a.md'), 'text');
  await writeFile(join(folder, 'own', 'b.md'), 'secret');
  const open = (given: Partial<Settings>) => documentFiles(settingsWith(given), [join(folder, 'own')]);
  const { read } = open({ 'documents.folders': [folder], 'tenant.default': 'own' });
  expect(Buffer.from((await read('own', 'a.md', 99, signal)).bytes).toString()).toBe('text');
  await expect(read('own', join(folder, 'own', 'b.md'), 99, signal)).rejects.toThrow();
  const notOpen = { code: 'E3105', message: expect.stringContaining('documents.folders') };
  await expect(read('other', 'a.md', 99, signal)).rejects.toMatchObject(notOpen);
  await expect(open({ 'documents.folders': [] }).read('default', 'a.md', 99, signal)).rejects.toMatchObject(notOpen);
  for (const wrong of ['docs', '~/docs', '..docs', ''])
    expect(() => open({ 'documents.folders': [wrong] })).toThrow(
      expect.objectContaining({ code: 'E3801', message: expect.stringContaining('documents.folders holds') }),
    );
  for (const right of ['.', './docs', '/docs']) open({ 'documents.folders': [right] });
});

test('DOC-01.4 HTML is read as a page, and a PDF or a Word file in a sandbox that says why it cannot be', async () => {
  const asked: unknown[] = [];
  const pages = {
    run: async (asking: { html: string }) => {
      asked.push(asking);
      return {
        content: `page of ${asking.html}`,
        notes: ['a note'],
        ...(asking.html === 'titled' ? { title: 'T' } : {}),
      };
    },
  };
  const started: string[] = [];
  const driver = {
    start: async ({ label }: { label: string }) => {
      started.push(label);
      throw new Error('no sandbox here');
    },
  };
  const { read } = documentReader(pages as never, driver as unknown as SandboxDriver);
  const bytes = (text: string) => Buffer.from(text);
  expect(await read(bytes('titled'), 'text/html', signal)).toEqual({
    content: 'page of titled',
    notes: ['a note'],
    title: 'T',
  });
  expect(await read(bytes('x'), 'text/html', signal)).toEqual({ content: 'page of x', notes: ['a note'] });
  expect(asked[0]).toEqual({ kind: 'html', html: 'titled', url: 'document:', mode: 'full', links: false });
  for (const type of [
    'application/pdf',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ] as const)
    await expect(read(bytes('x'), type as never, signal)).rejects.toThrow('no sandbox here');
  expect(started).toEqual(['reader of PDF documents', 'reader of Word documents']);
});

test('DOC-01.4 a reference server is an upstream of the own tenant and of the catalogue, once; a fault is in the log', async () => {
  const known = new Set(['own']);
  const added: unknown[][] = [];
  const logged: unknown[] = [];
  const log: Log = { ...silentLog, error: (event, fields) => void logged.push([event, fields]) };
  const upstreams = {
    current: (tenantId: string) => (known.has(tenantId) ? {} : undefined),
    definition: () => undefined,
    add: (...given: unknown[]) => {
      added.push(given);
      return Promise.reject(new Error('no room'));
    },
  };
  const parts = { defaultTenant: 'own', catalogTenant: 'all', upstreams, log } as unknown as OperationParts;
  await addReferenceServer(parts, 'documents');
  await addReferenceServer({ ...parts, catalogTenant: 'own' }, 'context');
  known.clear();
  await addReferenceServer({ ...parts, catalogTenant: 'own' }, 'context');
  expect(logged).toEqual([
    ['reference-server-not-added', { server: 'documents', reason: expect.any(String) }],
    ['reference-server-not-added', { server: 'context', reason: expect.any(String) }],
  ]);
  const definitionOf = (server: 'documents' | 'context', overrides: unknown) => ({
    ...{ name: server, transport: { type: 'embedded', server }, overrides },
  });
  const operator = { token: undefined, holder: expect.stringMatching(/^"all".*did:sallyport:layer$/) };
  expect(added).toEqual([
    ['all', definitionOf('documents', DOCUMENT_OVERRIDES), expect.objectContaining(operator)],
    ['own', definitionOf('context', CONTEXT_OVERRIDES), expect.anything()],
  ]);
});
