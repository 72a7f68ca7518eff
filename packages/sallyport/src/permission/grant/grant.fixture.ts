import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { ToolManifest, ToolPermissions } from '../../../api/schemas/tool-manifest.ts';
import { computeGrant, type GrantQuestion } from '../compute-grant.ts';
import type { LayerLimits } from './effective-limits.ts';

/** A layer with a limit in every dimension. */
export const LAYER: LayerLimits = {
  defaults: {
    timeoutMs: 30_000,
    cpuMillicores: 500,
    memoryMb: 512,
    outputBytesMax: 1000,
    processesMax: 64,
    diskMb: 64,
  },
  maxima: {
    timeoutMs: 600_000,
    cpuMillicores: 4000,
    memoryMb: 4096,
    outputBytesMax: 5000,
    networkBandwidthMbps: 1000,
    processesMax: 100,
    diskMb: 100,
  },
};

/** A grant of a layer that sets no bounds of its own, whose paths are no links and that has no name servers. */
export const grantOf = (question: Pick<GrantQuestion, 'manifest' | 'claims'> & Partial<GrantQuestion>) =>
  computeGrant({ agentContext: {}, layer: LAYER, realPath: (path) => path, dnsServers: [], ...question });

/** A manifest of a tool that needs these permissions. */
export const manifestOf = (
  permissions: ToolPermissions,
  config: ToolManifest['execution_config'] = {},
): ToolManifest => ({
  tool_id: 't',
  tool_name: 't',
  version: '1.0.0',
  description: '',
  parameters_schema: {},
  permissions,
  execution_config: config,
  executor: { kind: 'native' },
});

/** Claims of a token that allows every path and address by default. */
export const claimsOf = (over: Partial<CapabilityClaims> = {}): CapabilityClaims => ({
  tool_id: '*',
  agent_did: 'did:a',
  tenant_id: 't',
  allowed_operations: ['execute'],
  filesystem_permissions: { allowed_paths: ['/'], mode: 'rw' },
  network_permissions: { allowed_hosts: ['*'], allowed_ports: [0] },
  exp: 2,
  iat: 1,
  iss: 'i',
  ...over,
});
