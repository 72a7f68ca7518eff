import { join } from 'node:path';
import type { Settings } from '../settings.ts';

/** Folder of the keys and the state of the authorization server for development, in the data folder. */
export const developmentFolder = (settings: Pick<Settings, 'data_folder'>): string =>
  join(settings['data_folder'], 'keys', 'authorization-server');
