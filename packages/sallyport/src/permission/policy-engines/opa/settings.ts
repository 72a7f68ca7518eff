import { text } from '../../../domain/settings/rows.ts';
import type { ValuesOf } from '../../../domain/settings/setting.ts';
import { POLICY_SERVER_SETTINGS } from '../../policies/policy-settings.ts';

/** Settings of the Open Policy Agent. */
export const OPA_SETTINGS = {
  endpoint: text('permission.opa_endpoint', {
    default: 'http://localhost:8181/v1/data/tool_execution/allow',
    sentence: 'Address of the decision of an Open Policy Agent.',
  }),
  timeoutMs: POLICY_SERVER_SETTINGS.timeoutMs,
};

/** Values of the settings of the Open Policy Agent. */
export type OpaSettings = ValuesOf<typeof OPA_SETTINGS>;
