import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Warning } from '../../../api/schemas/invocation.ts';
import type { Log } from '../../telemetry/log.ts';
import type { DocumentReader, DocumentServer } from '../document-server.port.ts';
import type { Place, RememberedAnswers } from './remembered-answers.ts';
import type { DocumentSettings } from './settings.ts';

/** Dependencies of one reading. */
export interface ReadingParts {
  readonly server: DocumentServer;
  /** Asked when the server fails and nothing is remembered; absent: there is no other source. */
  readonly direct?: DocumentServer;
  readonly remembered: RememberedAnswers;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: DocumentSettings;
}

/** The documents of one run of a call, while they are read. */
export interface Reading extends ReadingParts {
  readonly reader: DocumentReader;
  readonly signal: AbortSignal;
  readonly place: Place;
  /** For the caller, each once. */
  readonly warnings: Warning[];
}

/** Begins a reading. */
export function beginReading(parts: ReadingParts, reader: DocumentReader, signal: AbortSignal): Reading {
  const warnings: Warning[] = [];
  const onCacheDown = (cause: unknown): void => {
    const message = 'The cache of documents cannot be reached, so the document server was asked.';
    if (warn(warnings, 'E3607', message)) parts.log.warn('document-cache-unreachable', { cause });
  };
  const place = { scope: parts.server.scopeOf(reader), tenantId: reader.tenantId, onCacheDown };
  return { ...parts, reader, signal, place, warnings };
}

/** Notes a warning; of one code and document once. @returns whether it is the first */
export function warn(warnings: Warning[], code: string, message: string, documentId?: string): boolean {
  const isKnown = warnings.some((each) => each.code === code && each.details?.['document_id'] === documentId);
  const details = documentId === undefined ? {} : { details: { document_id: documentId } };
  if (!isKnown) warnings.push({ code, message, ...details });
  return !isKnown;
}

/** The error for a document that the server does not know. */
export const notFound = (ref: string): ToolLayerError =>
  new ToolLayerError('E3601', `There is no document ${shown(ref)}. Look for it under another name.`, {
    details: { document: ref.slice(0, 128) },
  });

/** The error for a version that exists no more. */
export const versionGone = (ref: string, version: string): ToolLayerError =>
  new ToolLayerError(
    'E3604',
    `Version ${version} of the document ${shown(ref)} is gone. Ask for another version, or for the newest one.`,
    { details: { document: ref.slice(0, 128), version } },
  );

const shown = (ref: string): string => JSON.stringify(ref.slice(0, 128));
