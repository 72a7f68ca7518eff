import { KiB, MiB } from '@sallyport/std/bytes';
import { integer, list, oneOf } from '../domain/settings/rows.ts';
import { defaultsOf, type ValuesOf } from '../domain/settings/setting.ts';

/** Settings of the reference document server. */
export const DOCUMENT_SERVER_SETTINGS = {
  embedded: oneOf('documents.embedded', ['auto', 'on', 'off'], {
    default: 'auto',
    sentence:
      'Whether the layer is a document server too, as the upstream documents of tenant.default and tenant.catalog; auto: where the command line starts it, not in an embedding program.',
  }),
  folders: list('documents.folders', {
    default: [],
    sentence:
      'Folders of this machine whose files agents of tenant.default may ingest by their path, each absolute or beginning with "."; none by default.',
  }),
  fileBytesMax: integer('documents.file_bytes_max', {
    unit: 'bytes',
    minimum: KiB,
    default: 16 * MiB,
    sentence: 'Largest file that the document server reads.',
  }),
  contentBytesMax: integer('documents.content_bytes_max', {
    unit: 'bytes',
    minimum: KiB,
    default: 4 * MiB,
    sentence: 'Largest content of a document, as text.',
  }),
  documentsMax: integer('documents.max', {
    unit: 'documents',
    minimum: 1,
    default: 100_000,
    sentence: 'Documents of one tenant.',
  }),
  versionsMax: integer('documents.versions_max', {
    unit: 'versions',
    minimum: 1,
    default: 1_000,
    sentence: 'Versions of one document.',
  }),
};

/** Values of these settings. */
export type DocumentServerSettings = ValuesOf<typeof DOCUMENT_SERVER_SETTINGS>;

/** Values where nobody sets others. */
export const DOCUMENT_SERVER_DEFAULTS: DocumentServerSettings = defaultsOf(DOCUMENT_SERVER_SETTINGS);
