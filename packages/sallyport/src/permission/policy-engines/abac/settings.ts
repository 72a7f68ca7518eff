import { text } from '../../../domain/settings/rows.ts';
import type { ValuesOf } from '../../../domain/settings/setting.ts';
import { POLICY_SERVER_SETTINGS } from '../../policies/policy-settings.ts';

/** Settings of the data layer's access control. */
export const ABAC_SETTINGS = {
  endpoint: text('permission.abac_endpoint', {
    default: '',
    sentence: 'Base address of the ABAC endpoint; /api/v1/abac/check-permission is appended.',
  }),
  timeoutMs: POLICY_SERVER_SETTINGS.timeoutMs,
};

/** Values of the settings of the data layer's access control. */
export type AbacSettings = ValuesOf<typeof ABAC_SETTINGS>;
