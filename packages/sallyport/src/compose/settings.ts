import { APPROVALS_SETTINGS } from './settings/approvals.ts';
import { AUDIT_SETTINGS } from './settings/audit.ts';
import { BOUNDS_SETTINGS } from './settings/bounds.ts';
import { CALLS_SETTINGS } from './settings/calls.ts';
import { FILE_SETTINGS } from './settings/file.ts';
import { IDENTITY_SETTINGS } from './settings/identity.ts';
import { NOTIFIER_SETTINGS } from './settings/notifiers.ts';
import { OAUTH_SETTINGS } from './settings/oauth.ts';
import { PERMISSION_SETTINGS } from './settings/permission.ts';
import { REDACTION_SETTINGS } from './settings/redaction.ts';
import { REGISTRY_SETTINGS } from './settings/registry.ts';
import { CIRCUIT_SETTINGS, RETRY_SETTINGS } from './settings/retry.ts';
import { SANDBOX_SETTINGS } from './settings/sandbox.ts';
import { SERVER_SETTINGS } from './settings/server.ts';
import type { Setting } from './settings/setting.ts';
import { SHELL_SETTINGS } from './settings/shell.ts';
import { TRUST_SETTINGS } from './settings/trust.ts';
import { VALIDATION_SETTINGS } from './settings/validation.ts';
import { WEB_SETTINGS } from './settings/web.ts';
import { WORKERS_SETTINGS } from './settings/workers.ts';

export { type Setting, variableOf } from './settings/setting.ts';

/** Everything that can be set. A list is written with commas in a variable. */
export const SETTINGS = [
  ...SERVER_SETTINGS,
  ...REGISTRY_SETTINGS,
  ...IDENTITY_SETTINGS,
  ...OAUTH_SETTINGS,
  ...PERMISSION_SETTINGS,
  ...TRUST_SETTINGS,
  ...CALLS_SETTINGS,
  ...BOUNDS_SETTINGS,
  ...RETRY_SETTINGS,
  ...CIRCUIT_SETTINGS,
  ...APPROVALS_SETTINGS,
  ...NOTIFIER_SETTINGS,
  ...SANDBOX_SETTINGS,
  ...SHELL_SETTINGS,
  ...FILE_SETTINGS,
  ...AUDIT_SETTINGS,
  ...REDACTION_SETTINGS,
  ...VALIDATION_SETTINGS,
  ...WORKERS_SETTINGS,
  ...WEB_SETTINGS,
] as const satisfies readonly Setting[];

type Row = (typeof SETTINGS)[number];
type ValueOf<R extends Row> = R extends { readonly type: 'integer' | 'number' }
  ? number
  : R extends { readonly type: 'boolean' }
    ? boolean
    : R extends { readonly oneOf: readonly (infer One)[] }
      ? R extends { readonly type: 'list' }
        ? readonly One[]
        : One
      : R extends { readonly type: 'list' }
        ? readonly string[]
        : string;

/** Values of all settings by key. */
export type Settings = { readonly [R in Row as R['key']]: ValueOf<R> };
