import { resolve } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { valuesOf } from '../../../domain/settings/setting.ts';
import { createConfinedReader } from '../../../executors/file/read-confined.ts';
import { FILE_SETTINGS } from '../../../executors/file/settings.ts';
import type { DocumentFiles } from '../../../reference-servers/document-files.port.ts';
import type { Settings } from '../../settings.ts';

/**
 * The files in `documents.folders`, for the operator's own tenant alone: they are files of this machine.
 * @param closed folders of which nothing is read, whatever the settings say
 * @throws E3801 for a folder that is neither absolute nor begins with "."
 */
export function documentFiles(settings: Settings, closed: readonly string[]): DocumentFiles {
  const folders = settings['documents.folders'].map(folderOf);
  const read = createConfinedReader(folders, { settings: valuesOf(FILE_SETTINGS, settings), closed });
  return {
    read: async (tenantId, path, bytesMax, signal) => {
      if (folders.length === 0 || tenantId !== settings['tenant.default']) throw notOpen();
      return read(path, bytesMax, signal);
    },
  };
}

function folderOf(text: string): string {
  if (/^(?:\/|\.(?:\/|$))/.test(text)) return resolve(text);
  throw new ToolLayerError(
    'E3801',
    `documents.folders holds ${JSON.stringify(text)}; write an absolute path, or one that begins with ".".`,
  );
}

const notOpen = (): ToolLayerError =>
  new ToolLayerError(
    'E3105',
    'No files of the machine may be ingested by their path here. Give content or content_base64, or let the operator name their folder in documents.folders.',
  );
