import { join } from 'node:path';
import type { ObjectStore } from '../../../bridges/object-store.port.ts';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import { folderObjectStore } from '../../../storage/folder/folder-object-store.ts';
import { s3ObjectStore } from '../../../storage/s3/s3-object-store.ts';
import type { Settings } from '../../settings.ts';

/** The object store that the settings name. @throws ToolLayerError E3801 for an invalid address */
export function objectStoreOf(settings: Settings, secrets: SecretStore): ObjectStore {
  if (settings['object_store.kind'] === 'folder') return folderObjectStore(objectFolderOf(settings));
  const idName = settings['object_store.s3_key_id_secret'];
  const secretName = settings['object_store.s3_key_secret'];
  return s3ObjectStore({
    url: settings['object_store.s3_url'],
    region: settings['object_store.s3_region'],
    key: async () => {
      const found = await secrets.read(settings['tenant.default'], [idName, secretName]);
      return { id: found.get(idName) ?? '', secret: found.get(secretName) ?? '' };
    },
    archiveClass: settings['object_store.s3_archive_class'],
    readableDays: settings['object_store.s3_restored_days'],
  });
}

/** Folder of the objects. */
const objectFolderOf = (settings: Settings): string =>
  settings['object_store.folder'] || join(settings['data_folder'], 'objects');
