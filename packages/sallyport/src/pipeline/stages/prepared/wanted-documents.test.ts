import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { manifest } from '../../pipeline.fixture.ts';
import { forgedDocuments, wantedDocuments } from './wanted-documents.ts';

const LAYER = { isPinning: true };
const depending = (...document_dependencies: NonNullable<ToolManifest['document_dependencies']>) =>
  manifest('t', { document_dependencies });
const marked = {
  parameters_schema: { type: 'object', properties: { d: { type: 'array', 'x-documents': true } } },
} as const;

test('DOC-05.1 a call gets the documents of its tool, then those that it names, then the answer to its question', () => {
  const tool = depending(
    { document_pattern: 'own' },
    { document_pattern: 's*', access_mode: 'write', version_pinning: false },
  );
  const asked = { document_refs: ['document://a@2'], query: 'why?' };
  const read = { isQuestion: false, mode: 'read', isPinned: true };
  expect(wantedDocuments({ document_context: asked }, tool, LAYER)).toEqual([
    { ...read, ref: 'own' },
    { ...read, ref: 's*', mode: 'write', isPinned: false },
    { ...read, ref: 'a', version: '2' },
    { ...read, ref: 'why?', isQuestion: true },
  ]);
  expect(wantedDocuments({}, tool, LAYER)).toHaveLength(2);
  expect(wantedDocuments({ document_context: { query: 'why?' } }, manifest('t'), LAYER)).toHaveLength(1);
});

test.each([
  [true, undefined, true],
  [false, undefined, false],
  [true, false, false],
  [false, true, true],
])(
  'DOC-04.2 versions are pinned where the layer says %s and the call %s: %s',
  (isPinning, version_pinning, isPinned) => {
    const pinning = version_pinning === undefined ? {} : { version_pinning };
    const asked = { document_refs: ['a'], query: 'why?', ...pinning };
    const wanted = wantedDocuments({ document_context: asked }, depending({ document_pattern: 'own' }), { isPinning });
    expect(isFailure(wanted) ? wanted : wanted.map((one) => one.isPinned)).toEqual([isPinned, isPinned, isPinned]);
  },
);

test('DOC-05.1 what cannot be given is refused, and a call without documents needs nothing', () => {
  const plan = { document_context: { document_refs: ['plan'] } };
  const refused = (...given: Parameters<typeof wantedDocuments>) => wantedDocuments(...given);
  expect(refused({}, manifest('t'), LAYER)).toEqual([]);
  expect(refused({ document_context: {} }, manifest('t', { executor: { kind: 'web' } }), LAYER)).toEqual([]);
  const option = { code: 'E3901', details: { option: 'document_context' } };
  expect(refused(plan, manifest('t', { executor: { kind: 'web' } }), LAYER)).toMatchObject({
    ...option,
    message: 't of kind web gets no documents. Call it without document_context.',
  });
  expect(refused(plan, manifest('t', { executor: { kind: 'http' } }), LAYER)).toMatchObject({
    ...option,
    message: expect.stringContaining('mark a parameter with "x-documents": true.'),
  });
  expect(refused(plan, manifest('t', { executor: { kind: 'http' }, ...marked }), LAYER)).toHaveLength(1);
  const badRef = { code: 'E3801', details: { member: 'document_context.document_refs' } };
  const long = `no id ${'x'.repeat(200)}`;
  for (const bad of [
    refused({ document_context: { document_refs: [long] } }, manifest('t'), LAYER),
    refused({}, depending({ document_pattern: long }), LAYER),
  ]) {
    expect(bad).toMatchObject({ ...badRef, message: expect.stringContaining(`${long.slice(0, 100)}" is no`) });
    expect(bad).not.toMatchObject({ message: expect.stringContaining(long.slice(0, 101)) });
  }
});

test('DOC-05.1 no caller sets the parameter for documents', () => {
  const tool = manifest('t', { executor: { kind: 'http' }, ...marked });
  expect(forgedDocuments(tool, { d: [] })).toMatchObject({
    code: 'E3801',
    message: expect.stringContaining('"d" is for documents'),
    details: { parameter: 'd' },
  });
  expect([forgedDocuments(tool, { e: 1 }), forgedDocuments(manifest('t'), { d: [] })]).toEqual([undefined, undefined]);
});
