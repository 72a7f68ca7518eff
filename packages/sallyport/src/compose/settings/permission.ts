import type { Setting } from './setting.ts';

/** Who decides whether a call may run, beside its token. */
export const PERMISSION_SETTINGS = [
  {
    key: 'permission.engines',
    type: 'list',
    default: ['cedar'],
    sentence:
      'Policy engines in the order in which they are asked, of cedar, rules, opa and abac. All must allow; the first that denies ends it.',
  },
  {
    key: 'permission.shadow_engines',
    type: 'list',
    default: [],
    sentence: 'Engines that decide beside them on paper only: what would differ is put on record, nothing is enforced.',
  },
  {
    key: 'permission.policies_folder',
    type: 'string',
    default: '',
    sentence: 'Folder of policy files; policies in the data folder when empty.',
  },
  {
    key: 'permission.opa_endpoint',
    type: 'string',
    default: 'http://localhost:8181/v1/data/tool_execution/allow',
    sentence: 'Address of the decision of an Open Policy Agent.',
  },
  {
    key: 'permission.abac_endpoint',
    type: 'string',
    default: '',
    sentence: 'Base address of the ABAC endpoint; /api/v1/abac/check-permission is put behind it.',
  },
  {
    key: 'permission.timeout_ms',
    type: 'integer',
    unit: 'ms',
    minimum: 1,
    default: 500,
    sentence: 'How long a policy server may take; after that the call is denied with E3206.',
  },
  {
    key: 'permission.cache_ttl_seconds',
    type: 'number',
    unit: 'seconds',
    minimum: 0,
    default: 300,
    sentence: 'How long a decision is kept when its engine does not say; 0 keeps none.',
  },
] as const satisfies readonly Setting[];
