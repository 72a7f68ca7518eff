import { CONTEXT_SETTINGS } from '../bridges/context/settings.ts';
import { DOCUMENT_SETTINGS } from '../bridges/documents/settings.ts';
import { RETENTION_TIME_SETTINGS, THREAD_SETTINGS, TOOL_CHECKPOINT_SETTINGS } from '../bridges/settings.ts';
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
import { CREDENTIAL_SETTINGS } from '../external/credentials.ts';
import { KEY_SETTINGS } from '../identity/keys/key-settings.ts';
import { POSSESSION_SETTINGS } from '../identity/possession/possession-settings.ts';
import { TOKEN_SETTINGS } from '../identity/token/token-settings.ts';
import { LOGIN_SETTINGS } from '../mcp-servers/http/authorization/settings.ts';
import { OVERFLOW_SETTINGS } from '../model-facing/overflows.ts';
import { APPROVAL_SETTINGS } from '../orchestration/approval-terms.ts';
import { APPROVAL_LIMIT_SETTINGS } from '../orchestration/approvals/approvals-state.ts';
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
import { DEPENDENCY_GATE_SETTINGS } from '../pipeline/visible/dependency-gates.ts';
import { CONTEXT_SERVER_SETTINGS } from '../reference-servers/context-settings.ts';
import { DOCUMENT_SERVER_SETTINGS } from '../reference-servers/settings.ts';
import { RETENTION_SETTINGS } from '../registry/versions/lifecycle/retention.ts';
import { COERCION_SETTINGS } from '../validation/coerce/coercion-rules.ts';
import { AUDIT_ROWS, CHECKPOINT_SETTINGS } from './settings/audit.ts';
import { CALL_ROWS } from './settings/calls.ts';
import { REDACTION_ROWS, SANITISE_ACTIONS, SANITISE_ROWS } from './settings/guards.ts';
import { DEVELOPMENT_ROWS, IDENTITY_ROWS, OAUTH_ROWS } from './settings/identity.ts';
import { OBJECT_STORE_ROWS } from './settings/object-store.ts';
import { PERMISSION_ROWS } from './settings/permission.ts';
import { SANDBOX_ROWS, WARM_POOL_SETTINGS } from './settings/sandbox.ts';
import { SEARCH_ROWS } from './settings/search.ts';
import { SERVER_ROWS } from './settings/server.ts';
import { TOOL_ROWS } from './settings/tools.ts';

export { type Setting, variableOf };

/** Settings of the components: each table is in its component. */
const OF_COMPONENTS = rowsOf(
  CIRCUIT_SETTINGS,
  STOP_SETTINGS,
  STREAM_SETTINGS,
  EXECUTION_MAXIMA,
  EXECUTION_SETTINGS,
  UPSTREAM_TOOL_TIMES,
  LOGIN_SETTINGS,
  MCP_SETTINGS,
  TRANSPORT_SETTINGS,
  REST_SETTINGS,
  FILE_SETTINGS,
  COMMAND_SETTINGS,
  TRANSACTION_SETTINGS,
  WEB_SETTINGS,
  CREDENTIAL_SETTINGS,
  KEY_SETTINGS,
  TOKEN_SETTINGS,
  POSSESSION_SETTINGS,
  APPROVAL_SETTINGS,
  APPROVAL_LIMIT_SETTINGS,
  SMTP_SETTINGS,
  APPROVAL_WEBHOOK_SETTINGS,
  WORKER_SETTINGS,
  GATE_SETTINGS,
  QUOTA_SETTINGS,
  TRUST_SETTINGS,
  DECISION_SETTINGS,
  POLICY_SERVER_SETTINGS,
  ABAC_SETTINGS,
  OPA_SETTINGS,
  CALL_SETTINGS,
  OVERFLOW_SETTINGS,
  DEPENDENCY_GATE_SETTINGS,
  RETRY_SETTINGS,
  VALUE_SETTINGS,
  RETENTION_SETTINGS,
  COERCION_SETTINGS,
  CHECKPOINT_SETTINGS,
  DOCUMENT_SERVER_SETTINGS,
  CONTEXT_SERVER_SETTINGS,
  CONTEXT_SETTINGS,
  TOOL_CHECKPOINT_SETTINGS,
  DOCUMENT_SETTINGS,
  RETENTION_TIME_SETTINGS,
  THREAD_SETTINGS,
  SANITISE_ACTIONS,
  WARM_POOL_SETTINGS,
);

/** Settings of the layer as a whole: its address, its data, its choice of parts. */
const OF_COMPOSITION = [
  ...SERVER_ROWS,
  ...CALL_ROWS,
  ...IDENTITY_ROWS,
  ...OAUTH_ROWS,
  ...DEVELOPMENT_ROWS,
  ...PERMISSION_ROWS,
  ...SEARCH_ROWS,
  ...OBJECT_STORE_ROWS,
  ...TOOL_ROWS,
  ...AUDIT_ROWS,
  ...REDACTION_ROWS,
  ...SANITISE_ROWS,
  ...SANDBOX_ROWS,
];

/** All settings; keys of one table of the file are next to each other. */
export const SETTINGS = besideEachOther([...OF_COMPOSITION, ...OF_COMPONENTS]);

type Row = (typeof SETTINGS)[number];

/** Values of all settings by key. */
export type Settings = { readonly [R in Row as R['key']]: R['default'] };

function besideEachOther<R extends Setting>(rows: readonly R[]): readonly R[] {
  const tables = Object.groupBy(rows, ({ key }) => key.slice(0, key.lastIndexOf('.')));
  return Object.values(tables).flatMap((table = []) => table);
}
