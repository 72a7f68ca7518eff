import { CIRCUIT_SETTINGS } from '../domain/circuit/circuit-terms.ts';
import { STOP_SETTINGS, STREAM_SETTINGS } from '../domain/settings/server-settings.ts';
import { rowsOf, type Setting, variableOf } from '../domain/settings/setting.ts';
import { EXECUTION_MAXIMA, EXECUTION_SETTINGS, UPSTREAM_TOOL_TIMES } from '../domain/tool/execution-settings.ts';
import { MCP_SETTINGS } from '../doors/mcp-gateway/settings.ts';
import { TRANSPORT_SETTINGS } from '../doors/mcp-transports/settings.ts';
import { REST_SETTINGS } from '../doors/rest/settings.ts';
import { FILE_SETTINGS } from '../executors/file/settings.ts';
import { COMMAND_SETTINGS, TRANSACTION_SETTINGS } from '../executors/shell/settings.ts';
import { WEB_SETTINGS } from '../executors/web/settings.ts';
import { KEY_SETTINGS } from '../identity/keys/key-settings.ts';
import { TOKEN_SETTINGS } from '../identity/token/token-settings.ts';
import { APPROVAL_SETTINGS } from '../orchestration/approval-terms.ts';
import { DESK_SETTINGS } from '../orchestration/approvals/desk-state.ts';
import { SMTP_SETTINGS } from '../orchestration/notifiers/smtp/settings.ts';
import { APPROVAL_WEBHOOK_SETTINGS } from '../orchestration/notifiers/webhook/settings.ts';
import { WORKER_SETTINGS } from '../orchestration/workers/worker-limits.ts';
import { GATE_SETTINGS, QUOTA_SETTINGS, TRUST_SETTINGS } from '../permission/gates/gate-settings.ts';
import { DECISION_SETTINGS, POLICY_SERVER_SETTINGS } from '../permission/policies/policy-settings.ts';
import { ABAC_SETTINGS } from '../permission/policy-engines/abac/settings.ts';
import { OPA_SETTINGS } from '../permission/policy-engines/opa/settings.ts';
import { CALL_SETTINGS } from '../pipeline/parts.ts';
import { RETRY_SETTINGS } from '../pipeline/stages/attempts/retry-rules.ts';
import { VALUE_SETTINGS } from '../pipeline/stages/values/value-rules.ts';
import { RETENTION_SETTINGS } from '../registry/versions/lifecycle/retention.ts';
import { COERCION_SETTINGS } from '../validation/coerce/coercion-rules.ts';
import { APPROVALS_ROWS } from './settings/approvals.ts';
import { AUDIT_ROWS } from './settings/audit.ts';
import { BOUNDS_ROWS } from './settings/bounds.ts';
import { CALLS_ROWS } from './settings/calls.ts';
import { IDENTITY_ROWS } from './settings/identity.ts';
import { NOTIFIER_ROWS } from './settings/notifiers.ts';
import { OAUTH_ROWS } from './settings/oauth.ts';
import { PERMISSION_ROWS } from './settings/permission.ts';
import { REDACTION_ROWS } from './settings/redaction.ts';
import { REGISTRY_ROWS } from './settings/registry.ts';
import { CIRCUIT_ROWS } from './settings/retry.ts';
import { SANDBOX_ROWS } from './settings/sandbox.ts';
import { SERVER_ROWS } from './settings/server.ts';
import { SHELL_ROWS } from './settings/shell.ts';
import { TRUST_ROWS } from './settings/trust.ts';
import { VALIDATION_ROWS } from './settings/validation.ts';
import { WEB_ROWS } from './settings/web.ts';
import { WORKERS_ROWS } from './settings/workers.ts';

export { type Setting, variableOf };

/** What the components of the layer let an operator set. */
const OF_COMPONENTS = rowsOf(
  TOKEN_SETTINGS,
  KEY_SETTINGS,
  DESK_SETTINGS,
  APPROVAL_SETTINGS,
  APPROVAL_WEBHOOK_SETTINGS,
  SMTP_SETTINGS,
  WORKER_SETTINGS,
  RETRY_SETTINGS,
  VALUE_SETTINGS,
  CALL_SETTINGS,
  REST_SETTINGS,
  MCP_SETTINGS,
  TRANSPORT_SETTINGS,
  FILE_SETTINGS,
  WEB_SETTINGS,
  COMMAND_SETTINGS,
  TRANSACTION_SETTINGS,
  POLICY_SERVER_SETTINGS,
  DECISION_SETTINGS,
  TRUST_SETTINGS,
  QUOTA_SETTINGS,
  GATE_SETTINGS,
  ABAC_SETTINGS,
  OPA_SETTINGS,
  COERCION_SETTINGS,
  RETENTION_SETTINGS,
  STOP_SETTINGS,
  STREAM_SETTINGS,
  CIRCUIT_SETTINGS,
  EXECUTION_SETTINGS,
  EXECUTION_MAXIMA,
  UPSTREAM_TOOL_TIMES,
);

/** What is set of the layer as a whole: where it listens, what it is made from. */
const OF_COMPOSITION = [
  ...SERVER_ROWS,
  ...REGISTRY_ROWS,
  ...IDENTITY_ROWS,
  ...OAUTH_ROWS,
  ...PERMISSION_ROWS,
  ...TRUST_ROWS,
  ...CALLS_ROWS,
  ...BOUNDS_ROWS,
  ...CIRCUIT_ROWS,
  ...APPROVALS_ROWS,
  ...NOTIFIER_ROWS,
  ...SANDBOX_ROWS,
  ...SHELL_ROWS,
  ...AUDIT_ROWS,
  ...REDACTION_ROWS,
  ...VALIDATION_ROWS,
  ...WORKERS_ROWS,
  ...WEB_ROWS,
];

/** Everything that can be set, the keys of one table of the file beside each other. */
export const SETTINGS = besideEachOther([...OF_COMPOSITION, ...OF_COMPONENTS]);

type Row = (typeof SETTINGS)[number];

/** Values of all settings by key. */
export type Settings = { readonly [R in Row as R['key']]: R['default'] };

function besideEachOther<R extends Setting>(rows: readonly R[]): readonly R[] {
  return Object.values(Object.groupBy(rows, ({ key }) => key.slice(0, key.lastIndexOf('.')))).flatMap(
    (group = []) => group,
  );
}
