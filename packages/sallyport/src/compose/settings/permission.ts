import { integer, list, number, text } from '../../domain/settings/rows.ts';

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
  text('permission.opa_endpoint', {
    default: 'http://localhost:8181/v1/data/tool_execution/allow',
    sentence: 'Address of the decision of an Open Policy Agent.',
  }),
  text('permission.abac_endpoint', {
    default: '',
    sentence: 'Base address of the ABAC endpoint; /api/v1/abac/check-permission is put behind it.',
  }),
  integer('permission.timeout_ms', {
    unit: 'ms',
    minimum: 1,
    default: 500,
    sentence: 'How long a policy server may take; after that the call is denied with E3206.',
  }),
  number('permission.cache_ttl_seconds', {
    unit: 'seconds',
    minimum: 0,
    default: 300,
    sentence: 'How long a decision is kept when its engine does not say; 0 keeps none.',
  }),
];
