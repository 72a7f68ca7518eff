import { list, text } from '../../domain/settings/rows.ts';

/** Who decides whether a call may run, beside its token. */
export const PERMISSION_ROWS = [
  list('permission.engines', {
    default: ['cedar'],
    sentence:
      'Policy engines in the order in which they are asked, of cedar, rules, opa and abac. All must allow; the first that denies ends it.',
  }),
  list('permission.shadow_engines', {
    default: [],
    sentence: 'Engines that decide beside them on paper only: what would differ is put on record, nothing is enforced.',
  }),
  text('permission.policies_folder', {
    default: '',
    sentence: 'Folder of policy files; policies in the data folder when empty.',
  }),
];
