import type { Clock } from '@sallyport/std/clock';
import type { DocumentUpdates } from '../../bridges/document-updates.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { DocumentFiles } from '../document-files.port.ts';
import type { DocumentReader } from '../document-reader.port.ts';
import type { DocumentStore } from '../document-store.port.ts';
import type { DocumentServerSettings } from '../settings.ts';
import type { Meaning } from './meaning.ts';

/** Dependencies of the tools. */
export interface DocumentParts {
  readonly store: DocumentStore;
  readonly reader: DocumentReader;
  readonly files: DocumentFiles;
  /** Absent: documents are found by words alone. */
  readonly meaning?: Meaning | undefined;
  readonly updates: DocumentUpdates;
  readonly settings: Omit<DocumentServerSettings, 'embedded' | 'folders'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Something that the model can mend: it becomes a result with `isError`. The message says what to change. */
export class CannotDo extends Error {}
