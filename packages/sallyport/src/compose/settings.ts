import { STOP_SETTINGS, STREAM_SETTINGS } from '../domain/settings/server-settings.ts';
import { rowsOf, type Setting, variableOf } from '../domain/settings/setting.ts';
import { EXECUTION_MAXIMA, EXECUTION_SETTINGS, UPSTREAM_TOOL_TIMES } from '../domain/tool/execution-settings.ts';
import { MCP_SETTINGS } from '../doors/mcp-gateway/settings.ts';
import { TRANSPORT_SETTINGS } from '../doors/mcp-transports/settings.ts';
import { REST_SETTINGS } from '../doors/rest/settings.ts';
import { WORKER_SETTINGS } from '../orchestration/workers/worker-limits.ts';
import { CALL_SETTINGS } from '../pipeline/parts.ts';
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
import { SHELL_SETTINGS } from './settings/shell.ts';
import { TRUST_SETTINGS } from './settings/trust.ts';
import { VALIDATION_SETTINGS } from './settings/validation.ts';
import { WEB_SETTINGS } from './settings/web.ts';
import { WORKERS_SETTINGS } from './settings/workers.ts';

export { type Setting, variableOf };

/** What the components of the layer let an operator set. */
const OF_COMPONENTS = rowsOf(
  WORKER_SETTINGS,
  CALL_SETTINGS,
  REST_SETTINGS,
  MCP_SETTINGS,
  TRANSPORT_SETTINGS,
  STOP_SETTINGS,
  STREAM_SETTINGS,
  EXECUTION_SETTINGS,
  EXECUTION_MAXIMA,
  UPSTREAM_TOOL_TIMES,
);

/** What is set of the layer as a whole: where it listens, what it is made from. */
const OF_COMPOSITION = [
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
