import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createToolLayer, type EmbeddedToolLayer, type NativeCallContext } from '../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';

/** The agent of the story. */
export const CLERK = { agent_did: 'did:example:clerk' };
/** The document that the job works by. */
export const RULES = 'filing:rules';
/** The call that is cut off. */
export const CALL = 'file-the-notes';

/** A note may be filed twice without harm: the document server keeps what is the same as one version. */
const FILE_NOTES: ToolManifest = {
  tool_id: 'file-notes',
  tool_name: 'File notes',
  version: '1.0.0',
  description: 'Files every note of a folder at the document server.',
  side_effect_policy: 'idempotent',
  parameters_schema: { type: 'object', properties: { folder: { type: 'string' } }, required: ['folder'] },
  executor: { kind: 'native' },
};

/**
 * What happens after a note was filed, before the job has saved that it was.
 * @param isNew false when an earlier call had filed it already
 */
export type AfterNote = (name: string, isNew: boolean, layer: EmbeddedToolLayer) => Promise<void>;

/** A layer with both reference servers, and the job. */
export async function openLayer(dataFolder: string, afterNote: AfterNote): Promise<EmbeddedToolLayer> {
  const layer = await createToolLayer({
    settings: { data_folder: dataFolder, 'log.level': 'silent', 'documents.embedded': 'on', 'context.embedded': 'on' },
  });
  await layer.registerFunction(FILE_NOTES, ({ folder }, context) =>
    fileNotes(layer, String(folder), afterNote, context),
  );
  return layer;
}

async function fileNotes(
  layer: EmbeddedToolLayer,
  folder: string,
  afterNote: AfterNote,
  { checkpoints, documents }: NativeCallContext,
): Promise<unknown> {
  const { restored } = checkpoints;
  const { done }: { done: string[] } =
    restored === undefined ? { done: [] } : JSON.parse(Buffer.from(restored.bytes).toString());
  const names = (await readdir(folder)).toSorted();
  for (const name of names.filter((each) => !done.includes(each))) {
    const isNew = await fileNote(layer, folder, name);
    await afterNote(name, isNew, layer);
    done.push(name);
    const note = done.length * 2 === names.length ? { milestone: 'half of them' } : {};
    await checkpoints.save({ done }, { ...note, phase: 'filing', progressPercent: (100 * done.length) / names.length });
  }
  return { filed: done.length, by: documents.map(({ content }) => content) };
}

/** Under a key: whatever happens, one call files this note. @returns false when an earlier call has filed it */
async function fileNote(layer: EmbeddedToolLayer, folder: string, name: string): Promise<boolean> {
  const content = await readFile(join(folder, name), 'utf8');
  const parameters = { document_id: `note:${name.replace('.md', '')}`, content };
  const { status, isRepeated } = await call(layer, 'documents__ingest_document', parameters, {
    idempotency_key: `note ${name}`,
  });
  if (status !== 'success') throw new Error(`${name} was not filed`);
  return !isRepeated;
}

/** Stores the rules, or a new version of them. */
export const storeRules = (layer: EmbeddedToolLayer, content: string): Promise<unknown> =>
  call(layer, 'documents__ingest_document', { document_id: RULES, content });

/** Calls a tool as the clerk. */
export async function call(
  layer: EmbeddedToolLayer,
  tool_id: string,
  parameters: Readonly<Record<string, unknown>>,
  execution_options = {},
): Promise<{ status: string; isRepeated: boolean; structuredContent: Record<string, unknown> }> {
  const { capability_token } = await layer.mintToken(CLERK);
  const answer = await layer.invoke({ tool_id, parameters, capability_token, execution_options });
  const { status, result, execution_metadata } = answer;
  const { structuredContent = {} } = (result ?? {}) as { structuredContent?: Record<string, unknown> };
  return { status, isRepeated: execution_metadata?.cached === true, structuredContent };
}

/** What the context server knows of the job. */
export async function knownOfJob(layer: EmbeddedToolLayer): Promise<Record<string, unknown>> {
  const { structuredContent } = await call(layer, 'context__get_unified_context', { taskId: CALL });
  return structuredContent;
}
