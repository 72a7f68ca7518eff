import { randomUUID } from 'node:crypto';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { GivenDocument } from '../domain/document/given-document.ts';
import { layerFolderName, removeLeft } from './documents/layer-folders.ts';

/** Variable that names the folder of a program's documents; no call and no manifest sets it. */
export const DOCUMENTS_VARIABLE = 'SALLYPORT_DOCUMENTS';
/** The list of the documents in the folder: what is known of each, with the name of its file, without its content. */
export const DOCUMENTS_INDEX = 'documents.json';

/** Longest part of a file's name that comes from the document's id. */
const NAME_CHARS_MAX = 80;

/** The documents of one run as read-only files, until it is disposed. */
export interface DocumentFolder extends AsyncDisposable {
  /** Absolute; mounted under this path for the program that asked for the documents, and for no other. */
  readonly path: string;
}

/** Folders of documents for programs in sandboxes (DOC-05). */
export interface DocumentFolders {
  open(documents: readonly GivenDocument[]): Promise<DocumentFolder>;
}

/**
 * Makes a folder for each run below one that is this layer's own, and creates that with the first; what killed layers
 * left is removed then. Several layers may share `root`.
 * @param root absolute
 */
export function createDocumentFolders(root: string, clock: Pick<Clock, 'now'>): DocumentFolders {
  const own = join(root, layerFolderName());
  let ready: Promise<void> | undefined;
  const makeOwn = async (): Promise<void> => {
    await mkdir(own, { recursive: true });
    await removeLeft(root, clock);
  };
  return {
    async open(documents) {
      ready ??= makeOwn().catch((thrown: unknown) => {
        ready = undefined;
        throw thrown;
      });
      await ready;
      const path = join(own, randomUUID());
      const remove = (): Promise<void> => rm(path, { recursive: true, force: true });
      try {
        await writeAll(path, documents);
      } catch (thrown) {
        await remove();
        throw thrown;
      }
      return { path, [Symbol.asyncDispose]: remove };
    },
  };
}

/**
 * The folder of a run; undefined for a run without documents.
 * @throws ToolLayerError E3901 where no folder can be made
 */
export async function documentFolder(
  folders: DocumentFolders | undefined,
  documents: readonly GivenDocument[] | undefined,
): Promise<DocumentFolder | undefined> {
  if (documents === undefined) return undefined;
  if (folders === undefined) throw new ToolLayerError('E3901', 'This layer brings no documents to programs.');
  return folders.open(documents);
}

async function writeAll(folder: string, documents: readonly GivenDocument[]): Promise<void> {
  await mkdir(folder, { mode: 0o755 });
  const index: object[] = [];
  for (const [at, { content, ...known }] of documents.entries()) {
    const file = fileName(at, known);
    index.push({ ...known, file });
    await write(join(folder, file), content);
  }
  await write(join(folder, DOCUMENTS_INDEX), JSON.stringify(index, undefined, 2));
}

/** The program may run under a user of its own, which must be able to read. */
async function write(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' });
  await chmod(path, 0o444);
}

/** The number keeps names apart; the id is for people, and may be any text. */
function fileName(
  at: number,
  { document_id, content_type }: Pick<GivenDocument, 'document_id' | 'content_type'>,
): string {
  const name = document_id.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, NAME_CHARS_MAX);
  return `${at + 1}-${name}.${content_type === 'text/plain' ? 'txt' : 'md'}`;
}
