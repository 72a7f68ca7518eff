import { checkSchema as check } from '../../../../test/check-schema.ts';
import { AgentSandboxContext } from '../schemas/agent-sandbox-context.ts';
import { CapabilityClaims, TokenMintRequest, TokenMintResponse } from '../schemas/capability-token.ts';
import { ProblemDetails, ToolErrorBody } from '../schemas/error.ts';
import { AgentDid, InvocationId, NoInput, TenantId, ToolId, Version, VersionRange } from '../schemas/identifiers.ts';
import {
  ToolCancelRequest,
  ToolCancelResponse,
  ToolInvokeRequest,
  ToolInvokeResponse,
  ToolStatusRequest,
  ToolStatusResponse,
} from '../schemas/invocation.ts';
import { ToolManifest } from '../schemas/tool-manifest.ts';
import { AT, MANIFEST } from './examples.fixture.ts';

const METADATA = {
  duration_ms: 1.5,
  started_at: AT,
  completed_at: AT,
  cpu_used_millicore_seconds: 0,
  memory_peak_mb: 0,
  network_bytes_sent: 0,
  network_bytes_received: 0,
  documents_accessed: [{ document_id: 'd', document_version: '1', access_count: 1 }],
  checkpoints_created: [{ checkpoint_id: 'c', checkpoint_type: 'micro', timestamp: AT }],
  attempts: 1,
  cached: false,
};
const ERROR = {
  code: 'invalid_parameters',
  e_code: 'E3509',
  category: 'InvalidParameters',
  message: 'One argument has a fault.',
  retryable: false,
};
const CLAIMS = {
  tool_id: 'weather__*',
  agent_did: 'did:web:agent',
  tenant_id: 'acme',
  allowed_operations: ['execute'],
  exp: 2,
  iat: 1,
  iss: 'sallyport',
};

check('a tool id', ToolId, ['a', 'a'.repeat(128), 'a.b-c__d_'], ['', 'a'.repeat(129), '_a', 'a/b', 'a-', 'ä', 'a b']);
check(
  'a version',
  Version,
  ['0.0.0', '1.2.3-rc.1+build.5'],
  ['1.2', '01.2.3', 'v1.2.3', '1.2.3-', `1.0.0-${'a'.repeat(60)}`],
);
check('a version range', VersionRange, ['^2.1.0', 'latest'], ['', 'x'.repeat(129)]);
check('a tenant id', TenantId, ['acme', 'a'.repeat(255)], ['', 'a'.repeat(256)]);
check('an agent id', AgentDid, ['did:web:agent'], ['', 'a'.repeat(256)]);
check('an invocation id', InvocationId, ['018f3c1e-0000-7000', 'a'.repeat(128)], ['', '-a', '../a', 'a'.repeat(129)]);
check('an empty input', NoInput, [{}], [{ a: 1 }, [], null]);

check(
  'a manifest',
  ToolManifest,
  [
    MANIFEST,
    {
      ...MANIFEST,
      category: 'external_api',
      side_effect_policy: 'pure',
      permissions: { network: [{ host: 'api.example.com', port: 443 }], filesystem: [{ path: '/srv', mode: 'ro' }] },
      execution_config: { default_timeout_seconds: 86_400, retry_policy: { max_attempts: 20 } },
      tags: ['weather'],
      requires: ['geo'],
    },
  ],
  [
    {},
    { ...MANIFEST, version: '1' },
    { ...MANIFEST, category: 'other' },
    { ...MANIFEST, unknown: true },
    { ...MANIFEST, executor: { kind: 'native', run: 'x' } },
    { ...MANIFEST, execution_config: { default_timeout_seconds: 0 } },
    { ...MANIFEST, permissions: { network: [{ host: 'a', port: 65_536 }] } },
    { ...MANIFEST, permissions: { filesystem: [{ path: '/srv', mode: 'w' }] } },
    { ...MANIFEST, description: 'x'.repeat(65_537) },
  ],
);

check(
  'an agent sandbox context',
  AgentSandboxContext,
  [
    {},
    {
      agent_did: 'did:web:agent',
      resource_limits: { timeout_seconds: 30, memory_mb_limit: 1 },
      network_policy: { allowed_hosts: ['*'], allowed_ports: [0, 65_535] },
      filesystem_policy: { mounts: [{ path: '/srv', mode: 'rw' }] },
    },
  ],
  [
    { resource_limits: { timeout_seconds: 0 } },
    { network_policy: { allowed_hosts: ['*'] } },
    { filesystem_policy: {} },
  ],
);

check(
  'an invoke request',
  ToolInvokeRequest,
  [
    { tool_id: 'a' },
    {
      tool_id: 'a',
      tool_version: '^1',
      parameters: {},
      agent_context: { agent_did: 'did:web:agent', tenant_id: 'acme' },
      execution_options: { async_mode: true, priority: 'high', idempotency_key: 'k' },
      capability_token: 'x'.repeat(16_384),
    },
  ],
  [
    {},
    { tool_id: 'a', parameters: [] },
    { tool_id: 'a', agent_context: { agent_did: 'did:web:agent' } },
    { tool_id: 'a', execution_options: { priority: 'urgent' } },
    { tool_id: 'a', execution_options: { idempotency_key: '' } },
    { tool_id: 'a', capability_token: 'x'.repeat(16_385) },
    { tool_id: 'a', toolVersion: '1.0.0' },
  ],
);

check(
  'an invoke response',
  ToolInvokeResponse,
  [
    { invocation_id: 'i', status: 'success', result: null, execution_metadata: METADATA },
    {
      invocation_id: 'i',
      status: 'error',
      error: ERROR,
      warnings: [{ code: 'E3003', message: 'Old.' }],
      execution_metadata: METADATA,
    },
    {
      invocation_id: 'i',
      status: 'pending',
      execution_metadata: METADATA,
      polling_info: { status_url: '/v1/invocations/i' },
    },
  ],
  [
    { invocation_id: 'i', status: 'done', execution_metadata: METADATA },
    { invocation_id: 'i', status: 'success' },
    { invocation_id: 'i', status: 'success', execution_metadata: { ...METADATA, attempts: -1 } },
    { invocation_id: 'i', status: 'error', error: { ...ERROR, cause: 'x' }, execution_metadata: METADATA },
  ],
);

check('a status request', ToolStatusRequest, [{ invocation_id: 'i' }], [{}, { invocation_id: 'i', verbose: true }]);
check(
  'a status response',
  ToolStatusResponse,
  [{ invocation_id: 'i', status: 'running', state: 'EXECUTING', tool_id: 'a', progress_percent: 100 }],
  [
    { invocation_id: 'i', status: 'running', state: 'executing', tool_id: 'a' },
    { invocation_id: 'i', status: 'running', state: 'EXECUTING', tool_id: 'a', progress_percent: 101 },
  ],
);
check(
  'a cancel request',
  ToolCancelRequest,
  [{ invocation_id: 'i', reason: 'x'.repeat(1024) }],
  [{ invocation_id: 'i', reason: 'x'.repeat(1025) }],
);
check(
  'a cancel response',
  ToolCancelResponse,
  [{ invocation_id: 'i', cancelled: false, message: 'It was over.' }],
  [{ invocation_id: 'i' }],
);

check(
  'an error body',
  ToolErrorBody,
  [ERROR, { ...ERROR, details: { faults: [] }, retry_after_ms: 0 }],
  [
    { ...ERROR, code: 'oops' },
    { ...ERROR, e_code: 'E4001' },
    { ...ERROR, retry_after_ms: -1 },
    { ...ERROR, stack: 'at x' },
  ],
);
check(
  'problem details',
  ProblemDetails,
  [{ ...ERROR, message: undefined, type: 'about:blank', title: 'Bad Request', status: 400, detail: 'x' }].map(json),
  [ERROR],
);
check(
  'token claims',
  CapabilityClaims,
  [CLAIMS, { ...CLAIMS, roles: ['operator'], nbf: 1 }],
  [{ ...CLAIMS, exp: '2' }, { ...CLAIMS, roles: ['root'] }, {}],
);
check(
  'a request for a token',
  TokenMintRequest,
  [{}, { expires_in_seconds: 31_536_000 }],
  [{ expires_in_seconds: 31_536_001 }, { tool_id: '' }],
);
check(
  'an answer with a token',
  TokenMintResponse,
  [{ capability_token: 'x', claims: CLAIMS }],
  [{ capability_token: 'x', claims: {} }],
);

/** The value without members that are undefined, as it is sent. */
function json(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
