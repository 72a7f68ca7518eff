import { type Static, Type } from 'typebox';
import { JsonObject, ToolId, Version } from './identifiers.ts';
import { ManifestChange } from './registry/tool-comparison.ts';
import { ImportResponse, OpenApiImportRequest, Registration } from './registry.ts';

const SourceName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,39}$',
  description: 'Prefix of the tool ids.',
});

/** Options of every import. */
const OPTIONS = {
  bump: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Register what changed under the next version instead of refusing it: major when the change breaks callers, else minor.',
    }),
  ),
  dry_run: Type.Optional(
    Type.Boolean({ default: false, description: 'Say what would happen; nothing is registered and nothing recorded.' }),
  ),
};

export const OpenApiImport = Type.Object(
  { ...OpenApiImportRequest.properties, ...OPTIONS },
  { additionalProperties: false, title: 'OpenAPI document to import' },
);
export type OpenApiImport = Static<typeof OpenApiImport>;

export const LangChainImport = Type.Object(
  {
    tools: Type.Union([Type.Array(JsonObject, { minItems: 1 }), JsonObject], {
      description:
        'Serialised tools: a list, an object with the list under tools, tools by name, or one. Each has name, description and its schema under schema, parameters, args_schema or input_schema; the form of OpenAI is read too.',
    }),
    name: Type.Optional(SourceName),
    version: Type.Optional(
      Type.String({ ...Version, description: 'Version of tools that name none; 1.0.0 when absent.' }),
    ),
    ...OPTIONS,
  },
  { additionalProperties: false, title: 'LangChain tools to import' },
);
export type LangChainImport = Static<typeof LangChainImport>;

export const SkillImportFile = Type.Object(
  {
    path: Type.String({ minLength: 1, maxLength: 512, description: 'Relative to the folder, with slashes.' }),
    content: Type.Optional(Type.String({ description: 'The text of the file; give this or base64.' })),
    base64: Type.Optional(Type.String({ description: 'The bytes of a file that is no text.' })),
    executable: Type.Optional(Type.Boolean({ description: 'Whether the file may be started.' })),
  },
  { additionalProperties: false },
);
export type SkillImportFile = Static<typeof SkillImportFile>;

/** The files travel in the request: the layer never reads a folder that a caller names. */
export const SkillImport = Type.Object(
  {
    files: Type.Array(SkillImportFile, { minItems: 1, maxItems: 512 }),
    name: Type.Optional(SourceName),
    ...OPTIONS,
  },
  { additionalProperties: false, title: 'Folder with one SKILL.md or several' },
);
export type SkillImport = Static<typeof SkillImport>;

const AccountName = Type.String({ minLength: 1, maxLength: 255 });

/** What is asked of Composio, and what its tools become. The API key is named, never sent. */
export const ComposioImport = Type.Object(
  {
    toolkit: Type.Optional(
      Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$', description: 'Only its tools, as github.' }),
    ),
    tools: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,199}$' }), {
        minItems: 1,
        maxItems: 100,
        description: "Only these, by Composio's slugs; toolkit and search do not count then.",
      }),
    ),
    search: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Only tools found by these words.' }),
    ),
    base_url: Type.Optional(
      Type.String({
        pattern: '^https?://',
        maxLength: 2048,
        description: 'Up to the version of the API. Default https://backend.composio.dev/api/v3.',
      }),
    ),
    secret: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        default: 'composio_api_key',
        description: "Name of the secret that is the project's API key.",
      }),
    ),
    connected_account_id: Type.Optional(Type.String({ ...AccountName, description: 'Account that the tools use.' })),
    user_id: Type.Optional(Type.String({ ...AccountName, description: 'One user for all callers.' })),
    user_from: Type.Optional(
      Type.Enum(['agent', 'tenant'], {
        description: 'Whose account is used: of the agent that calls (the default), or of its tenant.',
      }),
    ),
    name: Type.Optional(SourceName),
    ...OPTIONS,
  },
  { additionalProperties: false, title: 'Tools of Composio to import' },
);
export type ComposioImport = Static<typeof ComposioImport>;

/** What an import did with one tool. `refused` with `changes`: the content differs from what is registered under that version. */
export const ImportedTool = Type.Object(
  {
    ...Registration.properties,
    replaces: Type.Optional(Version),
    breaking: Type.Optional(Type.Boolean({ description: 'Whether callers of the registered version may fail.' })),
    changes: Type.Optional(
      Type.Array(ManifestChange, { description: 'From the registered version to the imported one; the first 50.' }),
    ),
  },
  { additionalProperties: false },
);
export type ImportedTool = Static<typeof ImportedTool>;

export const ImportReport = Type.Object(
  {
    ...ImportResponse.properties,
    registrations: Type.Array(ImportedTool),
    missing: Type.Array(ToolId, {
      description: 'Tools of the same source that are registered and that this import does not have any more.',
    }),
    dry_run: Type.Boolean(),
  },
  { additionalProperties: false },
);
export type ImportReport = Static<typeof ImportReport>;
