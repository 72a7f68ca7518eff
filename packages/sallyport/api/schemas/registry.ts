import { type Static, Type } from 'typebox';
import { JsonObject, Timestamp, ToolId, Version, VersionRange } from './identifiers.ts';
import { Warning } from './invocation.ts';
import {
  Category,
  ExecutionConfig,
  ExecutorKind,
  FilesystemPermission,
  NetworkPermission,
  SideEffectPolicy,
  ToolManifest,
} from './tool-manifest.ts';

/** REG-04. */
export const DeprecationState = Type.Enum(['active', 'deprecated', 'sunset', 'removed']);
export type DeprecationState = Static<typeof DeprecationState>;

/** BC-2 tool.list(), flat so that it fits a query string. */
export const ToolListRequest = Type.Object(
  {
    category: Type.Optional(Category),
    tags: Type.Optional(Type.Array(Type.String(), { description: 'Tools that carry every one of these.' })),
    executor: Type.Optional(ExecutorKind),
    capability_query: Type.Optional(
      Type.String({
        maxLength: 4096,
        description: 'What the tool should do, in words: answers as tools.search does, best first.',
      }),
    ),
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  },
  { additionalProperties: false },
);
export type ToolListRequest = Static<typeof ToolListRequest>;

export const ToolSummary = Type.Object(
  {
    tool_id: ToolId,
    tool_name: Type.String(),
    description: Type.String(),
    category: Type.String(),
    versions: Type.Array(Version),
    latest_version: Version,
    tags: Type.Array(Type.String()),
    requires_approval: Type.Boolean(),
    executor: ExecutorKind,
    state: Type.Optional(DeprecationState),
  },
  { additionalProperties: false },
);
export type ToolSummary = Static<typeof ToolSummary>;

export const ToolListResponse = Type.Object(
  {
    tools: Type.Array(ToolSummary),
    pagination: Type.Object(
      { total_count: Type.Integer(), page: Type.Integer(), page_size: Type.Integer() },
      { additionalProperties: false },
    ),
    warnings: Type.Optional(Type.Array(Warning)),
  },
  { additionalProperties: false, title: 'tool.list() response (BC-2)' },
);
export type ToolListResponse = Static<typeof ToolListResponse>;

export const ToolGetRequest = Type.Object(
  { tool_id: ToolId, version: Type.Optional(VersionRange) },
  { additionalProperties: false },
);
export type ToolGetRequest = Static<typeof ToolGetRequest>;

/** REG-01: members of a manifest that have a default, as they count for a call. */
export const EffectiveManifest = Type.Object(
  {
    category: Type.Optional(Category),
    tags: Type.Array(Type.String()),
    permissions: Type.Object(
      {
        filesystem: Type.Array(FilesystemPermission),
        network: Type.Array(NetworkPermission),
        credentials: Type.Array(Type.String()),
      },
      { additionalProperties: false },
    ),
    execution_config: ExecutionConfig,
    deterministic: Type.Boolean(),
    idempotent: Type.Boolean(),
    side_effect_policy: SideEffectPolicy,
    requires_confirmation: Type.Boolean(),
    requires: Type.Array(ToolId),
    prefers: Type.Array(ToolId),
  },
  { additionalProperties: false },
);
export type EffectiveManifest = Static<typeof EffectiveManifest>;

export const ToolDetail = Type.Object(
  {
    manifest: ToolManifest,
    effective: Type.Optional(EffectiveManifest),
    content_hash: Type.String({ description: 'SHA-256 over the canonical JSON of the manifest, hex.' }),
    state: DeprecationState,
    versions: Type.Array(Version),
    registered_at: Timestamp,
    warnings: Type.Array(Warning),
  },
  { additionalProperties: false },
);
export type ToolDetail = Static<typeof ToolDetail>;

export const ToolRegisterRequest = Type.Object({ manifest: JsonObject }, { additionalProperties: false });
export type ToolRegisterRequest = Static<typeof ToolRegisterRequest>;

/** What registration did with one manifest. `unchanged`: the same content was there already. */
export const Registration = Type.Object(
  {
    tool_id: Type.String(),
    version: Type.String(),
    outcome: Type.Enum(['created', 'unchanged', 'refused']),
    content_hash: Type.Optional(Type.String()),
    warnings: Type.Array(Warning),
    error: Type.Optional(JsonObject),
  },
  { additionalProperties: false },
);
export type Registration = Static<typeof Registration>;

/** The document travels in the request: the layer never fetches an address that a caller names. */
export const OpenApiImportRequest = Type.Object(
  {
    document: Type.String({ minLength: 1, description: 'OpenAPI 3.0 or 3.1 document, JSON or YAML text.' }),
    name: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,39}$',
        description: 'Prefix of the tool ids; from the title when absent.',
      }),
    ),
    base_url: Type.Optional(Type.String({ description: 'Replaces the servers of the document.' })),
    source: Type.Optional(Type.String({ description: 'Where the document came from, for messages.' })),
  },
  { additionalProperties: false },
);
export type OpenApiImportRequest = Static<typeof OpenApiImportRequest>;

export const ImportResponse = Type.Object(
  {
    source: Type.String(),
    registrations: Type.Array(Registration),
    skipped: Type.Array(Type.Object({ place: Type.String(), reason: Type.String() }, { additionalProperties: false })),
  },
  { additionalProperties: false },
);
export type ImportResponse = Static<typeof ImportResponse>;

/** Whole manifests of the newest version of each tool that the caller may see, for doors that show schemas. */
export const ManifestListRequest = Type.Object(
  {
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 200 })),
  },
  { additionalProperties: false },
);
export type ManifestListRequest = Static<typeof ManifestListRequest>;

export const ManifestListResponse = Type.Object(
  { manifests: Type.Array(ToolManifest), total_count: Type.Integer(), page: Type.Integer(), page_size: Type.Integer() },
  { additionalProperties: false },
);
export type ManifestListResponse = Static<typeof ManifestListResponse>;
