import { type Static, Type } from 'typebox';

/** `executor.config` of a tool of kind `file`. */
export const FileConfig = Type.Object(
  {
    operation: Type.Enum(['read', 'write', 'edit', 'list', 'glob', 'grep'], {
      description: 'What the tool does with its arguments; docs/tool-kinds/files.md says which arguments each takes.',
    }),
  },
  { additionalProperties: false },
);
export type FileConfig = Static<typeof FileConfig>;
