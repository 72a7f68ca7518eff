import { type Static, Type } from 'typebox';
import { Timestamp } from './identifiers.ts';
import { Registration } from './registry.ts';
import { FilesystemPermission, NetworkPermission } from './tool-manifest.ts';

export const UpstreamName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,39}$',
  description: 'Prefix of its tool ids: <name>__<tool>.',
});

/** A server started as a child process inside a sandbox. Nothing but what is listed here is visible to it. */
export const StdioTransport = Type.Object(
  {
    type: Type.Literal('stdio'),
    command: Type.String({ minLength: 1 }),
    args: Type.Optional(Type.Array(Type.String(), { maxItems: 256 })),
    cwd: Type.Optional(Type.String({ description: 'Absolute path, visible read-only inside the sandbox.' })),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    mounts: Type.Optional(Type.Array(FilesystemPermission, { maxItems: 64 })),
    network: Type.Optional(Type.Array(NetworkPermission, { maxItems: 64 })),
    memory_mb_limit: Type.Optional(Type.Integer({ minimum: 16 })),
  },
  { additionalProperties: false },
);
export type StdioTransport = Static<typeof StdioTransport>;

export const HttpTransport = Type.Object(
  {
    type: Type.Literal('http'),
    url: Type.String({ pattern: '^https?://' }),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: "A value {{NAME}} is taken from the layer's secrets when connecting.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type HttpTransport = Static<typeof HttpTransport>;

/** REG-09: an MCP server that the layer is a client of. */
export const UpstreamDefinition = Type.Object(
  {
    name: UpstreamName,
    transport: Type.Union([StdioTransport, HttpTransport]),
    request_timeout_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
    disabled: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false, title: 'Upstream' },
);
export type UpstreamDefinition = Static<typeof UpstreamDefinition>;

export const UpstreamState = Type.Enum(['starting', 'ready', 'degraded', 'stopped']);
export type UpstreamState = Static<typeof UpstreamState>;

export const UpstreamStatus = Type.Object(
  {
    name: UpstreamName,
    state: UpstreamState,
    transport: Type.Enum(['stdio', 'http']),
    protocol_version: Type.Optional(Type.String()),
    server: Type.Optional(Type.Object({ name: Type.String(), version: Type.String() })),
    tool_count: Type.Integer(),
    restart_count: Type.Integer(),
    last_error: Type.Optional(Type.String()),
    changed_at: Timestamp,
  },
  { additionalProperties: false },
);
export type UpstreamStatus = Static<typeof UpstreamStatus>;

export const UpstreamAddRequest = Type.Object({ upstream: UpstreamDefinition }, { additionalProperties: false });
export type UpstreamAddRequest = Static<typeof UpstreamAddRequest>;

export const UpstreamAddResponse = Type.Object(
  { upstream: UpstreamStatus, registrations: Type.Array(Registration) },
  { additionalProperties: false },
);
export type UpstreamAddResponse = Static<typeof UpstreamAddResponse>;

/** REG-14: the `mcpServers` JSON of desktop clients, as it stands in their file. */
export const UpstreamImportRequest = Type.Object(
  {
    configuration: Type.String({ minLength: 2, description: 'Text of the JSON file.' }),
    source: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type UpstreamImportRequest = Static<typeof UpstreamImportRequest>;

export const UpstreamImportResponse = Type.Object(
  {
    imported: Type.Array(UpstreamAddResponse),
    refused: Type.Array(Type.Object({ name: Type.String(), reason: Type.String() }, { additionalProperties: false })),
    notes: Type.Array(Type.String()),
  },
  { additionalProperties: false },
);
export type UpstreamImportResponse = Static<typeof UpstreamImportResponse>;

export const UpstreamListResponse = Type.Object(
  { upstreams: Type.Array(UpstreamStatus) },
  { additionalProperties: false },
);
export type UpstreamListResponse = Static<typeof UpstreamListResponse>;

export const UpstreamNameRequest = Type.Object({ name: UpstreamName }, { additionalProperties: false });
export type UpstreamNameRequest = Static<typeof UpstreamNameRequest>;

export const UpstreamRemoveResponse = Type.Object(
  { name: UpstreamName, removed_tools: Type.Array(Type.String()) },
  { additionalProperties: false },
);
export type UpstreamRemoveResponse = Static<typeof UpstreamRemoveResponse>;
