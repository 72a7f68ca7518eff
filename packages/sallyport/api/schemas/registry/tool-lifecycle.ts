import { type Static, Type } from 'typebox';
import { Fault } from '../error.ts';
import { JsonObject, Timestamp, ToolId, Version, VersionRange } from '../identifiers.ts';
import { Warning } from '../invocation.ts';
import { DeprecationState } from '../registry.ts';

const Reason = Type.String({ maxLength: 1024, description: 'Why, in words for people and agents.' });
const OneVersion = Type.Optional(Version);

export const ToolDeprecateRequest = Type.Object(
  {
    tool_id: ToolId,
    version: OneVersion,
    in_favor_of: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'A version of the same tool, or the id of another tool; both must be there.',
      }),
    ),
    migration_guide: Type.Optional(Type.String({ maxLength: 65_536, description: 'How to move on.' })),
    reason: Type.Optional(Reason),
  },
  { additionalProperties: false, title: 'One version, or every active one' },
);
export type ToolDeprecateRequest = Static<typeof ToolDeprecateRequest>;

export const ToolSunsetRequest = Type.Object(
  { tool_id: ToolId, version: OneVersion, reason: Type.Optional(Reason) },
  { additionalProperties: false, title: 'One version, or every deprecated one' },
);
export type ToolSunsetRequest = Static<typeof ToolSunsetRequest>;

export const ToolRestoreRequest = Type.Object(
  { tool_id: ToolId, version: Version, reason: Type.Optional(Reason) },
  { additionalProperties: false },
);
export type ToolRestoreRequest = Static<typeof ToolRestoreRequest>;

export const ToolRemoveRequest = Type.Object(
  {
    tool_id: ToolId,
    version: OneVersion,
    force: Type.Optional(
      Type.Boolean({ default: false, description: 'At once, whatever the state and its days of warning.' }),
    ),
    reason: Type.Optional(Reason),
  },
  { additionalProperties: false, title: 'One version, or every one' },
);
export type ToolRemoveRequest = Static<typeof ToolRemoveRequest>;

export const ToolRemoveResponse = Type.Object(
  { tool_id: ToolId, removed: Type.Array(Version) },
  { additionalProperties: false },
);
export type ToolRemoveResponse = Static<typeof ToolRemoveResponse>;

/** REG-04: one step of a version in its lifecycle. */
export const ToolStateChange = Type.Object(
  {
    state: DeprecationState,
    at: Timestamp,
    by: Type.Optional(Type.String({ description: 'Agent DID of who asked for it.' })),
    reason: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type ToolStateChange = Static<typeof ToolStateChange>;

/** One version of a tool with what became of it. */
export const ToolHistoryEntry = Type.Object(
  {
    version: Version,
    state: DeprecationState,
    content_hash: Type.String({ description: 'SHA-256 over the canonical JSON of the manifest, hex.' }),
    registered_at: Timestamp,
    registered_by: Type.Optional(Type.String({ description: 'Agent DID; absent when it was not noted.' })),
    deprecated_at: Type.Optional(Timestamp),
    removable_at: Type.Optional(Timestamp),
    deprecated_in_favor_of: Type.Optional(Type.String()),
    migration_guide: Type.Optional(Type.String()),
    last_used_at: Type.Optional(Timestamp),
    in_use: Type.Boolean({ description: 'Called lately, or named by another version; such a version is not retired.' }),
    release_notes: Type.Optional(Type.String()),
    changes: Type.Array(ToolStateChange, { description: 'Steps in its lifecycle, oldest first; the newest 32.' }),
  },
  { additionalProperties: false },
);
export type ToolHistoryEntry = Static<typeof ToolHistoryEntry>;

export const ToolLifecycleResponse = Type.Object(
  { tool_id: ToolId, versions: Type.Array(ToolHistoryEntry, { description: 'The versions that this call moved.' }) },
  { additionalProperties: false },
);
export type ToolLifecycleResponse = Static<typeof ToolLifecycleResponse>;

export const ToolHistoryRequest = Type.Object({ tool_id: ToolId }, { additionalProperties: false });
export type ToolHistoryRequest = Static<typeof ToolHistoryRequest>;

/** Every version, removed ones among them, newest first. */
export const ToolHistoryResponse = Type.Object(
  { tool_id: ToolId, versions: Type.Array(ToolHistoryEntry) },
  { additionalProperties: false },
);
export type ToolHistoryResponse = Static<typeof ToolHistoryResponse>;

/** REG-08: how well the schemas of a manifest follow 001 §6.3. */
export const ComplianceReport = Type.Object(
  {
    score: Type.Integer({ minimum: 0, maximum: 100, description: 'Share of the points that are met, rounded down.' }),
    points: Type.Integer({ minimum: 0 }),
    points_met: Type.Integer({ minimum: 0 }),
    findings: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: 'JSON Pointer into the manifest.' }),
          rule: Type.Enum(['$schema', 'type', 'required', 'description', 'additionalProperties']),
          message: Type.String(),
        },
        { additionalProperties: false },
      ),
      { description: 'Points that are not met, the first 200.' },
    ),
  },
  { additionalProperties: false },
);
export type ComplianceReport = Static<typeof ComplianceReport>;

export const ManifestCheckRequest = Type.Object({ manifest: JsonObject }, { additionalProperties: false });
export type ManifestCheckRequest = Static<typeof ManifestCheckRequest>;

/** What registering a manifest would say. Nothing is written. */
export const ManifestCheckResponse = Type.Object(
  {
    valid: Type.Boolean({ description: 'Whether it could be registered as it stands.' }),
    faults: Type.Array(Fault, { description: 'What keeps it out, with the place of each.' }),
    compliance: Type.Optional(ComplianceReport),
    warnings: Type.Array(Warning),
  },
  { additionalProperties: false },
);
export type ManifestCheckResponse = Static<typeof ManifestCheckResponse>;

export const ToolComplianceRequest = Type.Object(
  { tool_id: ToolId, version: Type.Optional(VersionRange) },
  { additionalProperties: false },
);
export type ToolComplianceRequest = Static<typeof ToolComplianceRequest>;

export const ToolComplianceResponse = Type.Object(
  { tool_id: ToolId, version: Version, compliance: ComplianceReport },
  { additionalProperties: false },
);
export type ToolComplianceResponse = Static<typeof ToolComplianceResponse>;
