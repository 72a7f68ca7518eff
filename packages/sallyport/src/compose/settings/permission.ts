import { boolean, list, text } from '../../domain/settings/rows.ts';

/** Who decides whether a call may run, besides its token. */
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
  text('model.url', {
    default: '',
    sentence: 'Address of a language model that speaks as OpenAI does, with or without its /v1; empty for none.',
  }),
  text('model.name', { default: '', sentence: 'Model of that server.' }),
  text('model.secret', {
    default: '',
    sentence: 'Name of the secret that holds the key for that server; empty sends none.',
  }),
  text('model.temperature', {
    default: '0',
    sentence: 'Temperature that is asked for; empty for models that take none.',
  }),
  boolean('gate.enabled', {
    default: false,
    sentence:
      'Whether that model judges calls by policies in plain language before they run; needs model.url, model.name and policies.',
  }),
  list('gate.policies', {
    default: [],
    sentence: 'Such policies, beside those of policies/adversarial.toml in the data folder.',
  }),
  text('hooks.file', {
    default: '',
    sentence:
      'TOML file with webhooks before and after calls; empty is hooks.toml in the data folder, when it is there.',
  }),
];
