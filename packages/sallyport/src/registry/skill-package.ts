import { type Static, Type } from 'typebox';

/** One file of a skill as it was imported. */
const SkillPackageFile = Type.Object(
  {
    path: Type.String({ minLength: 1, maxLength: 512, description: 'Relative to the folder of the skill.' }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    bytes: Type.Integer({ minimum: 0 }),
  },
  { additionalProperties: false },
);

/**
 * `executor.config` of a tool of kind `skill`: what its SKILL.md says, and which files belong to it by content. The
 * importer writes it, the skill executor reads it.
 */
export const SkillPackage = Type.Object(
  {
    entry: Type.String({ minLength: 1, description: 'The file that the instructions stand in.' }),
    instructions: Type.String({ description: 'The whole text after the front matter, in Markdown.' }),
    files: Type.Array(SkillPackageFile, { maxItems: 512 }),
    scripts: Type.Array(Type.String(), { maxItems: 512, description: 'Files that can be started.' }),
    allowed_tools: Type.Optional(Type.Array(Type.String(), { description: 'As the author wrote them.' })),
    license: Type.Optional(Type.String()),
    compatibility: Type.Optional(Type.String()),
    metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false, title: 'Skill' },
);
export type SkillPackage = Static<typeof SkillPackage>;
