import { type Static, Type } from 'typebox';
import { AgentDid, TenantId } from './identifiers.ts';
import { FilesystemPermission } from './tool-manifest.ts';

export const ResourceLimits = Type.Object(
  {
    cpu_millicore_limit: Type.Optional(Type.Integer({ minimum: 1 })),
    memory_mb_limit: Type.Optional(Type.Integer({ minimum: 1 })),
    timeout_seconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 86_400 })),
    network_bandwidth_mbps: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  },
  { additionalProperties: false },
);
export type ResourceLimits = Static<typeof ResourceLimits>;

export const NetworkPolicy = Type.Object(
  {
    allowed_hosts: Type.Array(Type.String({ minLength: 1 }), {
      description: 'Host names, IP literals or CIDR ranges; * for any.',
    }),
    allowed_ports: Type.Array(Type.Integer({ minimum: 0, maximum: 65535 }), { description: 'TCP ports; 0 for any.' }),
    dns_servers: Type.Optional(Type.Array(Type.String())),
  },
  { additionalProperties: false },
);
export type NetworkPolicy = Static<typeof NetworkPolicy>;

export const FilesystemPolicy = Type.Object(
  { mounts: Type.Array(FilesystemPermission) },
  { additionalProperties: false },
);

/** BC-1: the bounds an agent lives in. Every tool it calls lives inside them (SBX-01). */
export const AgentSandboxContext = Type.Object(
  {
    agent_did: Type.Optional(AgentDid),
    tenant_id: Type.Optional(TenantId),
    parent_sandbox_id: Type.Optional(Type.String()),
    resource_limits: Type.Optional(ResourceLimits),
    network_policy: Type.Optional(NetworkPolicy),
    filesystem_policy: Type.Optional(FilesystemPolicy),
  },
  { additionalProperties: false, title: 'Agent sandbox context (BC-1)' },
);
export type AgentSandboxContext = Static<typeof AgentSandboxContext>;
