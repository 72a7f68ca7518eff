import { randomUUID } from 'node:crypto';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@sallyport/std/clock';
import type { GivenDocument } from '../domain/document/given-document.ts';
import { layerFolderName, removeLeft } from './documents/layer-folders.ts';

/** Variable that names the folder of a program's documents. */
const DOCUMENTS_VARIABLE = 'SALLYPORT_DOCUMENTS';
/** Variable that names the file with the context of the session of the call. */
const SESSION_VARIABLE = 'SALLYPORT_SESSION_CONTEXT';
const SESSION_FILE = 'session-context.json';
/** The list of the documents in the folder: what is known of each, with the name of its file, without its content. */
export const DOCUMENTS_INDEX = 'documents.json';

/** Longest part of a file's name that comes from the document's id. */
const NAME_CHARS_MAX = 80;

/** What a call brings to a program; an absent member is not brought. */
export interface CallFiles {
  readonly documents?: readonly GivenDocument[] | undefined;
  /** The context of the session of the call. */
  readonly session?: Readonly<Record<string, unknown>> | undefined;
}

/** What one run of a call brings to its program, as read-only files, until it is disposed. */
export interface CallFolder extends AsyncDisposable {
  /** Absolute; mounted under this path for this program, and for no other. */
  readonly path: string;
  /** Variables that name the files; no call and no manifest sets them. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Folders of what calls bring to programs in sandboxes (DOC-05, EXT-04). */
export interface CallFolders {
  open(files: CallFiles): Promise<CallFolder>;
}

/**
 * Makes a folder for each run below one that is this layer's own, and creates that with the first; what killed layers
 * left is removed then. Several layers may share `root`.
 * @param root absolute
 */
export function createCallFolders(root: string, clock: Pick<Clock, 'now'>): CallFolders {
  const own = join(root, layerFolderName());
  let ready: Promise<void> | undefined;
  const makeOwn = async (): Promise<void> => {
    await mkdir(own, { recursive: true });
    await removeLeft(root, clock);
  };
  return {
    async open({ documents, session }) {
      ready ??= makeOwn().catch((thrown: unknown) => {
        ready = undefined;
        throw thrown;
      });
      await ready;
      const path = join(own, randomUUID());
      const remove = (): Promise<void> => rm(path, { recursive: true, force: true });
      try {
        await mkdir(path);
        // Whatever the umask takes away: the program may run under a user of its own.
        await chmod(path, 0o755);
        if (documents !== undefined) await writeDocuments(path, documents);
        if (session !== undefined) await write(join(path, SESSION_FILE), JSON.stringify(session, undefined, 2));
      } catch (thrown) {
        await remove();
        throw thrown;
      }
      const variables = {
        ...(documents === undefined ? {} : { [DOCUMENTS_VARIABLE]: path }),
        ...(session === undefined ? {} : { [SESSION_VARIABLE]: join(path, SESSION_FILE) }),
      };
      return { path, variables, [Symbol.asyncDispose]: remove };
    },
  };
}

/** A call that may bring documents, and the context of its session where its tool asks for that. */
export interface BringingCall {
  readonly documents?: readonly GivenDocument[];
  readonly sessionContext?: () => Promise<Readonly<Record<string, unknown>> | undefined>;
}

/**
 * The folder of a run; undefined for a call that brings nothing. A session without a context has an empty one.
 * @throws what reading the context throws
 */
export async function callFolder(
  folders: CallFolders,
  { documents, sessionContext }: BringingCall,
): Promise<CallFolder | undefined> {
  if (documents === undefined && sessionContext === undefined) return undefined;
  const session = sessionContext === undefined ? undefined : ((await sessionContext()) ?? {});
  return folders.open({ documents, session });
}

async function writeDocuments(folder: string, documents: readonly GivenDocument[]): Promise<void> {
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
  await writeFile(path, text);
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
