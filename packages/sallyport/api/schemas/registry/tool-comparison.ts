import { type Static, Type } from 'typebox';
import { ToolId, Version, VersionRange } from '../identifiers.ts';
import { Warning } from '../invocation.ts';

/** breaking: who called the old version may fail with the new one. notable: it works, but differently. compatible: nobody has to care. */
export const ChangeSeverity = Type.Enum(['breaking', 'notable', 'compatible']);
export type ChangeSeverity = Static<typeof ChangeSeverity>;

export const ManifestChange = Type.Object(
  {
    path: Type.String({
      description: 'JSON Pointer to the place, in the manifest that has it; the newer one if both do.',
    }),
    kind: Type.String({ description: 'What changed, such as required-added or permission-added.' }),
    severity: ChangeSeverity,
    message: Type.String({ description: 'One sentence.' }),
    needs_review: Type.Optional(
      Type.Literal(true, { description: 'The tool asks for more, or is held back less: a person should look at it.' }),
    ),
  },
  { additionalProperties: false },
);
export type ManifestChange = Static<typeof ManifestChange>;

/** How far one version lies from another. `back`: the second is the older one. */
export const VersionStep = Type.Enum(['major', 'minor', 'patch', 'prerelease', 'none', 'back']);
export type VersionStep = Static<typeof VersionStep>;

export const ToolDiffRequest = Type.Object(
  { tool_id: ToolId, from: VersionRange, to: Type.Optional(VersionRange) },
  { additionalProperties: false, title: 'Two versions of a tool, the newest when to is absent' },
);
export type ToolDiffRequest = Static<typeof ToolDiffRequest>;

export const ToolDiffResponse = Type.Object(
  {
    tool_id: ToolId,
    from: Version,
    to: Version,
    breaking: Type.Boolean(),
    needs_review: Type.Boolean(),
    step: VersionStep,
    step_honoured: Type.Boolean({ description: 'False when a breaking change came without a step that allows it.' }),
    complete: Type.Boolean({ description: 'False when the schemas are too large to be compared whole.' }),
    changes: Type.Array(ManifestChange, { description: 'Breaking ones first.' }),
    warnings: Type.Array(Warning),
  },
  { additionalProperties: false },
);
export type ToolDiffResponse = Static<typeof ToolDiffResponse>;
