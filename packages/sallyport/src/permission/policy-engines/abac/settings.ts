import { text } from '../../../domain/settings/rows.ts';
import type { ValuesOf } from '../../../domain/settings/setting.ts';
import { POLICY_SERVER_SETTINGS } from '../../policies/policy-settings.ts';

/** Where the access control of the data layer answers. */
export const ABAC_SETTINGS = {
  endpoint: text('permission.abac_endpoint', {
    default: '',
    sentence: 'Base address of the ABAC endpoint; /api/v1/abac/check-permission is put behind it.',
  }),
  timeoutMs: POLICY_SERVER_SETTINGS.timeoutMs,
};

type Values = ValuesOf<typeof ABAC_SETTINGS>;

/** Where the access control of the data layer answers. */
export interface AbacSettings extends Pick<Values, 'endpoint'>, Partial<Pick<Values, 'timeoutMs'>> {}
