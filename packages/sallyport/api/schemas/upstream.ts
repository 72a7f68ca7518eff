import { type Static, Type } from 'typebox';
import { Timestamp } from './identifiers.ts';
import { UpstreamAuthorization } from './identity/upstream-authorization.ts';
import { Registration } from './registry.ts';
import {
  ArgumentContents,
  FilesystemPermission,
  NetworkPermission,
  SideEffectPolicy,
  TaskSupport,
} from './tool-manifest.ts';

export const UpstreamName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,39}$',
  description: 'Prefix of its tool ids: <name>__<tool>.',
});

const CredentialName = Type.String({ minLength: 1, maxLength: 255 });

/** Code that the layer installed for an upstream, named by what it is and not by where it came from. */
export const InstalledPackage = Type.Object(
  {
    manager: Type.Enum(['npm', 'pip']),
    name: Type.String({ minLength: 1, maxLength: 214 }),
    version: Type.String({ minLength: 1, maxLength: 256 }),
    id: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 of the list of everything that was installed, with the version and integrity of each part.',
    }),
  },
  { additionalProperties: false },
);
export type InstalledPackage = Static<typeof InstalledPackage>;

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
    installed: Type.Optional(
      Type.Unsafe<InstalledPackage>({
        ...InstalledPackage,
        description:
          'What the layer installed for the command; stated by the layer. The upstream runs this and nothing newer.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type StdioTransport = Static<typeof StdioTransport>;

export const HttpTransport = Type.Object(
  {
    type: Type.Enum(['http', 'sse'], {
      description:
        'http: streamable HTTP, else HTTP+SSE of protocol 2024-11-05 where the server refuses it. sse: the latter at once.',
    }),
    url: Type.String({ pattern: '^https?://' }),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: "A value {{NAME}} is taken from the layer's secrets when connecting.",
      }),
    ),
    authorization: Type.Optional(UpstreamAuthorization),
  },
  { additionalProperties: false },
);
export type HttpTransport = Static<typeof HttpTransport>;

/** A reference server that ships with the layer and runs in its process. */
export const EmbeddedTransport = Type.Object(
  {
    type: Type.Literal('embedded'),
    server: Type.Enum(['documents', 'context'], { description: 'Which one.' }),
  },
  { additionalProperties: false },
);
export type EmbeddedTransport = Static<typeof EmbeddedTransport>;

/** What the operator states of a tool, against whatever its server says of itself. */
export const ToolOverride = Type.Object(
  {
    side_effect_policy: Type.Optional(SideEffectPolicy),
    requires_confirmation: Type.Optional(Type.Boolean()),
    requires_approval: Type.Optional(Type.Boolean()),
    timeout_seconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 86_400 })),
    task_support: Type.Optional(TaskSupport),
    argument_content: Type.Optional(ArgumentContents),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 32, description: 'Added to its own.' }),
    ),
  },
  { additionalProperties: false },
);
export type ToolOverride = Static<typeof ToolOverride>;

/** REG-09: an MCP server that the layer is a client of. */
export const UpstreamDefinition = Type.Object(
  {
    name: UpstreamName,
    transport: Type.Union([StdioTransport, HttpTransport, EmbeddedTransport]),
    request_timeout_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
    disabled: Type.Optional(Type.Boolean()),
    overrides: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 256 }), ToolOverride, {
        maxProperties: 1000,
        description: 'By the name that the server gives a tool; * for all. What is said of one tool wins.',
      }),
    ),
    accept_new_tools: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Whether tools that the server adds later are registered, and prompts and resource templates shown, when nothing in them is suspicious.',
      }),
    ),
    may_ask: Type.Optional(
      Type.Array(Type.Enum(['elicitation', 'sampling', 'roots']), {
        maxItems: 3,
        uniqueItems: true,
        default: ['elicitation'],
        description:
          'What the server may ask the client of a call in the middle of it: values of a person (elicitation), a ' +
          'completion by the language model of the client (sampling), the folders that the client offers (roots).',
      }),
    ),
    may_save_checkpoints: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether the server may save checkpoints of its calls in the layer, and gets the state from which a resumed ' +
          'call continues.',
      }),
    ),
    per_caller: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether each caller has a connection of its own, for stdio a process of its own. Every {{NAME}} is then a ' +
          'credential of the call: the tools ask for it, and the token of the caller has to grant it.',
      }),
    ),
    list_credentials: Type.Optional(
      Type.Record(CredentialName, CredentialName, {
        maxProperties: 64,
        description:
          'With per_caller: the secret of the tenant that stands in for each {{NAME}} on the connection by which the ' +
          'layer itself lists the tools. Without it they are listed once, by upstreams add, with the credentials of the ' +
          'operator who adds it.',
      }),
    ),
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
    transport: Type.Enum(['stdio', 'http', 'sse', 'embedded']),
    protocol_version: Type.Optional(Type.String()),
    server: Type.Optional(Type.Object({ name: Type.String(), version: Type.String() })),
    capabilities: Type.Array(Type.String(), { description: 'What the server says it offers: tools, prompts, …' }),
    tool_count: Type.Integer({ description: 'Tools that it lists now.' }),
    quarantined_count: Type.Integer({ description: 'Tools that wait for an operator, or were rejected.' }),
    malformed_count: Type.Integer({ description: 'Entries of its list that are no tools.' }),
    restart_count: Type.Integer(),
    caller_connections: Type.Optional(
      Type.Integer({ description: 'With per_caller: connections of callers that are open now.' }),
    ),
    last_error: Type.Optional(Type.String()),
    changed_at: Timestamp,
  },
  { additionalProperties: false },
);
export type UpstreamStatus = Static<typeof UpstreamStatus>;

const MayInstall = Type.Boolean({
  default: false,
  description:
    'Whether a package that the command needs (npx, uvx and the like) may be downloaded and installed into the data ' +
    'folder. Without it such a server is refused with what would be installed.',
});

export const UpstreamAddRequest = Type.Object(
  { upstream: UpstreamDefinition, install: Type.Optional(MayInstall) },
  { additionalProperties: false },
);
export type UpstreamAddRequest = Static<typeof UpstreamAddRequest>;

export const UpstreamAddResponse = Type.Object(
  {
    upstream: UpstreamStatus,
    registrations: Type.Array(Registration),
    needs_login: Type.Optional(
      Type.String({ description: 'Present when somebody has to log in at the upstream first: what to do.' }),
    ),
  },
  { additionalProperties: false },
);
export type UpstreamAddResponse = Static<typeof UpstreamAddResponse>;

export const UpstreamLoginFinishResponse = Type.Object(
  {
    ...UpstreamAddResponse.properties,
    waits: Type.Optional(Type.Boolean({ description: 'True while the login has not ended: ask again.' })),
  },
  { additionalProperties: false },
);
export type UpstreamLoginFinishResponse = Static<typeof UpstreamLoginFinishResponse>;

/** REG-14: the `mcpServers` JSON of desktop clients, as it stands in their file. */
export const UpstreamImportRequest = Type.Object(
  {
    configuration: Type.String({ minLength: 2, description: 'Text of the JSON file.' }),
    source: Type.Optional(Type.String()),
    only: Type.Optional(
      Type.Array(UpstreamName, { maxItems: 256, description: 'Only these, by the names that the answer gives them.' }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({ default: false, description: 'Say what would happen; nothing is started, installed or written.' }),
    ),
    install: Type.Optional(MayInstall),
    mounts: Type.Optional(
      Type.Record(UpstreamName, Type.Array(FilesystemPermission), {
        description:
          'Folders that servers see, by the names that the answer gives them; they win over those of the answer.',
      }),
    ),
    network: Type.Optional(
      Type.Record(UpstreamName, Type.Array(NetworkPermission), { description: 'Addresses that servers may reach.' }),
    ),
  },
  { additionalProperties: false },
);
export type UpstreamImportRequest = Static<typeof UpstreamImportRequest>;

/** What adding an upstream needs first. */
export const UpstreamPlan = Type.Object(
  {
    name: UpstreamName,
    start: Type.Enum(['ready', 'install', 'container', 'missing', 'http', 'sse', 'embedded', 'disabled'], {
      description:
        'ready: its program is there. install: a package has to be installed. container: it runs in a container, which the ' +
        'layer cannot start. missing: it cannot start as it is written. http, sse: a server that runs elsewhere. embedded: ' +
        'a server in the process of the layer. disabled: it is registered and not started.',
    }),
    package: Type.Optional(Type.String({ description: 'What has to be installed, as its package manager names it.' })),
    reason: Type.Optional(Type.String({ description: 'Why it cannot start, and what to change.' })),
    mounts: Type.Optional(
      Type.Array(FilesystemPermission, { description: 'Folders that it would see beside its own code.' }),
    ),
  },
  { additionalProperties: false },
);
export type UpstreamPlan = Static<typeof UpstreamPlan>;

export const UpstreamImportResponse = Type.Object(
  {
    planned: Type.Array(UpstreamPlan, { description: 'What was found of each, before anything was done.' }),
    imported: Type.Array(UpstreamAddResponse),
    kept: Type.Array(Type.Object({ name: UpstreamName, reason: Type.String() }, { additionalProperties: false }), {
      description: 'Registered although they could not be connected; they are tried again with growing pauses.',
    }),
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

/** One upstream with everything that an operator may want to know of it. */
export const UpstreamDetail = Type.Object(
  {
    upstream: UpstreamStatus,
    definition: Type.Unsafe<UpstreamDefinition>({
      ...UpstreamDefinition,
      description: 'As it was added; values of env and headers that are no {{NAME}} are hidden.',
    }),
    malformed: Type.Array(
      Type.Object({ place: Type.String(), reason: Type.String() }, { additionalProperties: false }),
      { description: 'Entries of its list that are no tools, or whose id belongs to another tool; the first hundred.' },
    ),
    absent_tools: Type.Array(Type.String(), { description: 'Tool ids that it no longer lists; the first hundred.' }),
  },
  { additionalProperties: false },
);
export type UpstreamDetail = Static<typeof UpstreamDetail>;

export const UpstreamRemoveResponse = Type.Object(
  { name: UpstreamName, removed_tools: Type.Array(Type.String()) },
  { additionalProperties: false },
);
export type UpstreamRemoveResponse = Static<typeof UpstreamRemoveResponse>;

export const UpstreamStatusResponse = Type.Object({ upstream: UpstreamStatus }, { additionalProperties: false });
export type UpstreamStatusResponse = Static<typeof UpstreamStatusResponse>;

export const UpstreamLogsRequest = Type.Object(
  {
    name: UpstreamName,
    after: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Only lines after this one; next of an earlier answer.' }),
    ),
  },
  { additionalProperties: false },
);
export type UpstreamLogsRequest = Static<typeof UpstreamLogsRequest>;

export const UpstreamLogsResponse = Type.Object(
  {
    name: UpstreamName,
    lines: Type.Array(Type.String(), {
      description: 'What the server wrote on its standard error, the last 500 lines at most, without secrets.',
    }),
    next: Type.Integer({ description: 'Number of the last line.' }),
  },
  { additionalProperties: false },
);
export type UpstreamLogsResponse = Static<typeof UpstreamLogsResponse>;

export const UpstreamExportRequest = Type.Object(
  { names: Type.Optional(Type.Array(UpstreamName, { maxItems: 256, description: 'All when absent.' })) },
  { additionalProperties: false },
);
export type UpstreamExportRequest = Static<typeof UpstreamExportRequest>;

/** REG-14: one server as desktop clients write it. */
export const DesktopServer = Type.Object(
  {
    type: Type.Enum(['stdio', 'http', 'sse']),
    command: Type.Optional(Type.String()),
    args: Type.Optional(Type.Array(Type.String())),
    cwd: Type.Optional(Type.String()),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    url: Type.Optional(Type.String()),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    disabled: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
export type DesktopServer = Static<typeof DesktopServer>;

export const UpstreamExportResponse = Type.Object(
  { mcpServers: Type.Record(Type.String(), DesktopServer) },
  { additionalProperties: false },
);
export type UpstreamExportResponse = Static<typeof UpstreamExportResponse>;
