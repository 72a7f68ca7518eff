import { text } from '../../domain/settings/rows.ts';

/** How pages are fetched, and where modules of functions are. */
export const WEB_ROWS = [
  text('functions.folder', {
    default: '',
    sentence: 'Folder of JavaScript modules that manifests of kind native may name by path; none when empty.',
  }),
];
